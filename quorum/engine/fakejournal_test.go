package engine

import (
	"fmt"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/journal"
	"redlock-proxy/quorum/master"
)

// Scripts of clients, what they do on a fake master, and what the journal makes of it.

var (
	// lockScript takes a lock, or takes it once more, as a lock library's own script does.
	lockScript = quorum.NewScript(`local v = redis.call('GET', KEYS[1])
if v and v ~= ARGV[1] then return false end
return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`)

	// The same, where what is the caller's already is left as it is: so the script says 1 again,
	// or else says 2.
	ownScript   = quorum.NewScript(owning + "1" + taking)
	otherScript = quorum.NewScript(owning + "2" + taking)
	namesDelete = quorum.NewScript(owning + "2" + taking + " -- and no redis.call('DEL', KEYS[1])")

	// The same in one word of two types: the status of SET, and a string.
	okScript = quorum.NewScript(`local v = redis.call('GET', KEYS[1])
if v == ARGV[1] then return 'OK' elseif v then return nil end
return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`)

	// The same, where the client is told by a part of an argument, or by a key.
	partScript = quorum.NewScript(`local v = redis.call('GET', KEYS[1])
local own = string.match(ARGV[1], '^[^|]*')
if v == own then return 1 elseif v then return 0 end
redis.call('SET', KEYS[1], own, 'PX', ARGV[2])
return 1`)
	keyScript = quorum.NewScript(`local v = redis.call('GET', KEYS[1])
if v == KEYS[2] then return 2 elseif v then return 0 end
redis.call('SET', KEYS[1], KEYS[2], 'PX', ARGV[2])
return 1`)

	// What Redisson does with a lock: it is a hash, of which a field names the holder and
	// says how often it has taken the lock.
	takeHash = quorum.NewScript(`if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return nil end
return redis.call('PTTL', KEYS[1])`)
	renewHash = quorum.NewScript(`if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1 end
return 0`)
	freeHash = quorum.NewScript(`if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return nil end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 0 end
redis.call('DEL', KEYS[1])
return 1`)

	// Whoever holds the lock, it is freed, and nothing said.
	clearScript = quorum.NewScript("redis.call('DEL', KEYS[1])")

	// Whoever holds the lock, it is taken.
	seizeScript = quorum.NewScript(seizing)
	seizeStep   = quorum.NewStep(seizing)

	// Transactions that take a lock, renew it and free it, where the key is what it was.
	takeStep = quorum.NewStep(`local v = redis.call('GET', KEYS[1])
if v and v ~= ARGV[1] then return false end
return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`)
	renewStep = quorum.NewStep(`if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`)
	freeStep = quorum.NewStep(freeing)

	// A transaction: SET k b NX PX 1 GET k, or GET k alone.
	tellStep = quorum.NewStep(`local v = redis.call('GET', KEYS[1])
if v or not ARGV[6] then return v end
return redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[6])`)

	// A transaction that only watches a lock, and counts another key.
	watchStep = quorum.NewStep(`redis.call('GET', KEYS[1]) return redis.call('INCR', KEYS[2])`)

	// Who does not recognise it runs it journaled.
	freeScript = quorum.NewScript(freeing)

	// Publishes its arguments, and does nothing else.
	tellScript = quorum.NewScript(`for i = 1, #ARGV do redis.call('PUBLISH', 'c', ARGV[i]) end`)

	// Whose lock it is; the second may not write.
	looksScript = quorum.NewScript(looking)
	readsOnly   = quorum.NewScript(looking).ReadOnly()
)

func init() { freeHash.Frees, freeScript.Frees, namesDelete.Frees = true, true, true }

const (
	owning = `local v = redis.call('GET', KEYS[1])
if v == ARGV[1] then return `
	taking = ` elseif v then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`
	looking = `return redis.call('GET', KEYS[1])`
	seizing = `return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`
	freeing = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`
)

// clientsScript is the script that is known to masters as s, nil if that is one of ours.
func clientsScript(s *master.Script) *quorum.Script {
	for c := range effects {
		if journal.FormOf(c).Own() == s {
			return c
		}
	}
	return nil
}

// journaled carries a client's script out, answers what the prelude makes of it, and
// tells what it did. A step that holds latches its keys also if it does nothing.
func (m *fakeMaster) journaled(s *quorum.Script, step string, keys, argv []string, holds bool) (reply string, does effect) {
	type found struct {
		before     string
		left, ends int64
	}
	was := make(map[string]found)
	for _, key := range keys {
		k, _ := m.key(key)
		before, left := m.dump(key)
		was[key] = found{before, left, k.until / 1e6}
	}
	e := effects[s](m, keys[0], argv)
	if !s.Latches && !s.Reads {
		m.breaks(keys...)
	}
	latches := s.Latches && (e.flags != 0 || holds)
	var records, values, calm []string
	for _, key := range keys {
		if after, expires := m.dump(key); s.Latches || e.flags != 0 {
			records = append(records, bulk(key), bulk(was[key].before), integer(was[key].left), bulk(after), integer(expires))
			if s.Latches {
				calm = append(calm, m.calm(step, key, was[key].before, was[key].ends, after, e.flags&(decide.FlagWrote|decide.FlagRemoved) != 0))
			}
		}
	}
	if does = e; latches {
		e.flags += decide.FlagLatched
	}
	if s.Latches {
		e.flags += decide.FlagStep + decide.FlagCalm
	}
	line := int64(-1)
	if e.shape == "-" {
		line = 1
	}
	for _, v := range e.value {
		values = append(values, bulk(v))
	}
	answer := []string{integer(e.flags), integer(line), bulk(e.shape), integer(int64(len(records) / decide.RecordElems))}
	answer = append(append(answer, records...), values...)
	if calm != nil {
		answer = append(answer, bulk(strings.Join(calm, " ")))
	}
	return array(answer...), does
}

// countOf is the key that those count who watch a lock.
func countOf(lock string) string { return lock + " is watched" }

// lockOf asks for a lock by lockScript.
func lockOf(key, token string, ttl int64) quorum.Request {
	return runOf(lockScript, key, token, fmt.Sprint(ttl))
}

// runOf asks for a script.
func runOf(s *quorum.Script, key string, args ...string) quorum.Request {
	return quorum.Request{Kind: quorum.Run, Script: s, Key: key, Keys: []string{key}, Args: args}
}
