package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
	"redlock-proxy/quorum/master"
)

// Scripts of clients, what they do on a fake master, and what the journal makes of it.

var (
	// lockScript takes a lock, or takes it once more, as a lock library's own script does.
	lockScript = quorum.NewScript(`local v = redis.call('GET', KEYS[1])
if v and v ~= ARGV[1] then return false end
return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`)

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

const (
	looking = `return redis.call('GET', KEYS[1])`
	seizing = `return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`
	freeing = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`
)

// effect is what a script has done to its key: flags, and its reply.
type effect struct {
	flags int64
	shape string
	value []string
}

func says(flags int64, shape string, value ...string) effect { return effect{flags, shape, value} }

var (
	saysNil    = says(0, "_")
	saysZero   = says(0, ":", "0")
	wrongType  = says(0, "-", "WRONGTYPE Operation against a key holding the wrong kind of value")
	hasWritten = says(decide.FlagWrote, "+", "OK")
)

var effects = map[*quorum.Script]func(m *fakeMaster, name string, argv []string) effect{
	lockScript:  takesString,
	takeStep:    takesString,
	seizeScript: seizesString,
	seizeStep:   seizesString,
	renewStep: func(m *fakeMaster, name string, argv []string) effect {
		switch k, held := m.key(name); {
		case k.hash:
			return wrongType
		case !held || k.value != argv[0]:
			return saysZero
		}
		m.expire(name, m.keys[name], paddedText(argv[1]))
		return says(decide.FlagWrote, ":", "1")
	},
	freeStep:    freesString,
	freeScript:  freesString,
	looksScript: looksAtString,
	readsOnly:   looksAtString,
	takeHash: func(m *fakeMaster, name string, argv []string) effect {
		k, held := m.key(name)
		n, ours := k.field(argv[0])
		switch {
		case held && !k.hash:
			return wrongType
		case held && !ours:
			left := m.pttl(k)
			return says(0, "t", strconv.FormatInt(max(left-left/100-2, 1), 10))
		}
		m.hash(name, argv, n+1)
		return says(decide.FlagWrote, "_")
	},
	renewHash: func(m *fakeMaster, name string, argv []string) effect {
		k, held := m.key(name)
		n, ours := k.field(argv[0])
		switch {
		case held && !k.hash:
			return wrongType
		case !ours:
			return saysZero
		}
		m.hash(name, argv, n)
		return says(decide.FlagWrote, ":", "1")
	},
	freeHash: func(m *fakeMaster, name string, argv []string) effect {
		k, held := m.key(name)
		n, ours := k.field(argv[0])
		switch {
		case held && !k.hash:
			return wrongType
		case !ours:
			return saysNil
		case n > 1:
			m.hash(name, argv, n-1)
			return says(decide.FlagWrote, ":", "0")
		}
		delete(m.keys, name)
		return says(decide.FlagWrote+decide.FlagRemoved, ":", "1")
	},
	tellScript: func(_ *fakeMaster, _ string, argv []string) effect {
		does := saysNil
		for _, message := range argv {
			does.value = append(slices.Clip(does.value), "c", message) // which are none of the reply
		}
		return does
	},
	countStep: func(m *fakeMaster, name string, _ []string) effect { return m.countBy(name, 1) },
	downStep:  func(m *fakeMaster, name string, _ []string) effect { return m.countBy(name, -1) },
	watchStep: func(m *fakeMaster, name string, _ []string) effect { return m.countBy(countOf(name), 1) },
	setStep: func(m *fakeMaster, name string, argv []string) effect {
		k, _ := m.key(name)
		if k.value != argv[0] {
			return saysNil
		}
		k.value = argv[1]
		m.keys[name] = k
		return hasWritten
	},
}

func takesString(m *fakeMaster, name string, argv []string) effect {
	switch k, held := m.key(name); {
	case k.hash:
		return wrongType
	case held && k.value != argv[0]:
		return saysNil
	}
	return seizesString(m, name, argv)
}

func freesString(m *fakeMaster, name string, argv []string) effect {
	switch k, _ := m.key(name); {
	case k.hash:
		return wrongType
	case k.value != argv[0]:
		return saysZero
	}
	delete(m.keys, name)
	return says(decide.FlagRemoved, ":", "1")
}

func looksAtString(m *fakeMaster, name string, _ []string) effect {
	k, held := m.key(name)
	if !held {
		return saysNil
	}
	return says(0, "$", k.value)
}

func seizesString(m *fakeMaster, name string, argv []string) effect {
	m.expire(name, fakeKey{value: argv[0]}, paddedText(argv[1]))
	return hasWritten
}

// transacts carries a client's transaction on one key out, as execScript of package commands
// does.
func transacts(m *fakeMaster, name string, argv []string) effect {
	next := func() (word string) { word, argv = argv[0], argv[1:]; return word }
	number := func() int { n, _ := strconv.Atoi(next()); return n }
	for range number() {
		next() // which key it is
		k, held := m.key(name)
		if form, value := next(), next(); held != (form == "string") || k.hash || k.value != value {
			return saysNil
		}
	}
	n := number()
	does := says(0, fmt.Sprintf("*%d;", n))
	for range n {
		words := make([]string, number())
		for i := range words {
			words[i] = next()
		}
		if i := slices.Index([]string{"PEXPIRE", "SET"}, words[0]); i >= 0 {
			words[2*i+2] = paddedText(words[2*i+2])
		}
		reply := m.do(words, 0)
		kind, value, _ := strings.Cut(reply[:len(reply)-2], "\r\n")
		switch {
		case reply == fakeNil:
			does.shape += "_"
			continue
		case kind[0] != '$':
			value = kind[1:]
		}
		does.shape, does.value = does.shape+kind[:1], append(does.value, value)
		if reply == "+OK\r\n" || reply == integer(1) {
			does.flags = decide.FlagWrote
		}
	}
	return does
}

// digests tells of a key what only a key like it has.
func digests(m *fakeMaster, name string, _ []string) effect {
	text, _ := m.dump(name)
	return says(0, "$", dump.Fingerprint(text))
}

func (m *fakeMaster) countBy(name string, by int) effect {
	k, _ := m.key(name)
	n, _ := strconv.Atoi(k.value)
	k.value = strconv.Itoa(n + by)
	m.keys[name] = k
	return says(decide.FlagWrote, ":", k.value)
}

// field reads how often a hash says that its field's owner has taken the lock.
func (k fakeKey) field(owner string) (n int, there bool) {
	text, there := strings.CutPrefix(k.value, owner+":")
	n, _ = strconv.Atoi(text)
	return n, k.hash && there
}

// hash has a key be a hash with the one field argv[0], for argv[1] milliseconds.
func (m *fakeMaster) hash(name string, argv []string, n int) {
	m.expire(name, fakeKey{value: fmt.Sprintf("%s:%d", argv[0], n), hash: true}, paddedText(argv[1]))
}

// paddedText is a number of milliseconds as a journaled script sets it.
func paddedText(ms string) string {
	n, _ := strconv.ParseInt(ms, 10, 64)
	return strconv.FormatInt(n+n/100+2, 10)
}

// clientsScript is the script that is known to masters as s, nil if that is one of ours.
func clientsScript(s *master.Script) *quorum.Script {
	for c := range effects {
		if formOf(c).wrapped == s {
			return c
		}
	}
	return nil
}

// journaled carries a client's script out, answers what the prelude makes of it, and
// tells whether it did anything.
func (m *fakeMaster) journaled(s *quorum.Script, keys, argv []string) (reply string, acted bool) {
	was := make(map[string][]string)
	for _, key := range keys {
		before, left := m.dump(key)
		was[key] = []string{bulk(key), bulk(before), integer(left)}
	}
	e := effects[s](m, keys[0], argv)
	var records, values []string
	for _, key := range keys {
		if after, expires := m.dump(key); s.Latches || e.flags != 0 {
			records = append(append(records, was[key]...), bulk(after), integer(expires))
		}
	}
	if acted = e.flags != 0; s.Latches {
		e.flags += decide.FlagStep
	}
	line := int64(-1)
	if e.shape == "-" {
		line = 1
	}
	for _, v := range e.value {
		values = append(values, bulk(v))
	}
	answer := []string{integer(e.flags), integer(line), bulk(e.shape), integer(int64(len(records) / decide.RecordElems))}
	return array(append(append(answer, records...), values...)...), acted
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
