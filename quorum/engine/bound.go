package engine

import (
	"slices"
	"strconv"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/dump"
	"redlock-proxy/quorum/master"
)

// What names no token, as EXPIRE, or a script may, acts on whatever is there. A master that
// carries it out late may hold another's lock by then:
//
//	1: A holds k on masters 1 and 2; this proxy's way to 3 is busy
//	2: A says EXPIRE k 1: masters 1 and 2 do it; A releases k at 1, and 2 goes away
//	3: B locks k through another proxy, on 1 and 3
//	4: 3 is told A's EXPIRE; B's lock ends there in a second, and 2 comes back, free
//
// So what is sent when it has been decided already is bound: the master carries it out if
// it holds what one of those found who decided, or nothing, and else leaves it. What was
// under way before cannot be, and is dated; see dated.go. Where it has acted before its
// date on what none of them found, it is put back, unless that has been there for long:
// then it is a leftover, which is set right.
//
// A SET is not bound, nor is a DEL: they are there to set right what masters differ in.

// unsigned tells that the op names no token, and is to act on what is there.
func (o *op) unsigned() bool {
	return o.Kind == quorum.Run || o.Kind == quorum.Write && o.Args[0] != "SET"
}

// weigh is decide, and notes who has decided on what names no token. Whoever that is has
// carried it out before its asker is told.
func (o *op) weigh(c counted) quorum.Decision {
	d := o.decide(c)
	if d != quorum.Undecided && o.unsigned() {
		o.deciders.Store(uint64(c))
	}
	return d
}

// bound tells that the op, which is sent next, is to be bound. A quorum must have told what
// it found: what was held by another one is among that. A script that removes is decided by
// fewer, where others cannot be asked.
func (o *op) bound() bool {
	if !o.unsigned() || o.ballot.load().decision() == quorum.Undecided {
		return false
	}
	t := counted(o.deciders.Load()).tally(len(o.said))
	return t.granted+t.refused >= t.quorum()
}

// found calls see with what each of those found who decided, and carried the op out.
func (o *op) found(see func(*said)) {
	c := counted(o.deciders.Load())
	for i := range o.said {
		if c.vote(i) == quorum.Granted && c.did(i) {
			see(&o.said[i])
		}
	}
}

// boundArgv is argv, or runArgv, of an op that is bound.
func (o *op) boundArgv(b []string, link *master.Link) []string {
	switch {
	case o.Kind == quorum.Run:
		s, chunk := formOf(o.Script).runs()
		s = bound(s)
		b = o.runArgs(b, s, chunk, link.Knows(s.SHA))
	case o.expiresIf(link.Who.Seven):
		b = append(boundExpireIfScript.Call(b, o.Key), o.Args...)
	default:
		b = append(boundWriteScript.Call(b, o.Key), o.Args...)
	}
	befores := make(map[string][]string) // of each key
	var keys []string
	if o.Kind == quorum.Write {
		keys = append(keys, o.Key)
	}
	o.found(func(s *said) {
		if s.journal == nil {
			return
		}
		for _, r := range s.journal.found {
			if !slices.Contains(keys, r.key) {
				keys = append(keys, r.key)
			}
			if r.before != "" {
				befores[r.key] = append(befores[r.key], dump.Footprint(r.before))
			}
		}
	})
	for _, key := range keys {
		b = append(b, befores[key]...)
		b = append(b, strconv.Itoa(len(befores[key])), key)
	}
	return append(b, strconv.Itoa(len(keys)))
}

// strange tells that a master has acted on what none of those found who decided.
func (o *op) strange(r *undoRecord) bool {
	if r.before == "" || !o.unsigned() {
		return false
	}
	strange := true
	o.found(func(s *said) {
		if s.journal == nil {
			return
		}
		if theirs := recordOf(s.journal.found, r.key); theirs != nil && dump.MaybeSame(theirs.before, r.before) {
			strange = false
		}
	})
	return strange
}

// intrudes tells that master i has carried out what was won, on what was somebody else's.
func (e *Engine) intrudes(o *op, i int, now time.Time) bool {
	intrudes := false
	for j := range o.said[i].journal.records() {
		intrudes = e.intrudesOn(o, &o.said[i].journal.undo[j], i, now) || intrudes
	}
	return intrudes
}

// intrudesOn is intrudes as to one key. What is put back is noted as what is still there.
func (e *Engine) intrudesOn(o *op, r *undoRecord, i int, now time.Time) bool {
	again := &undoRecord{before: r.before, after: r.before}
	return o.strange(r) && (r.livesOn() || !e.behind.still(r.key, i, again, now, 2*e.AcquireTimeout))
}

// records are the undo records of a journal, if there is one.
func (j *journaled) records() []undoRecord {
	if j == nil {
		return nil
	}
	return j.undo
}

// livesOn tells that the key holds what it held, if for another time.
func (r *undoRecord) livesOn() bool {
	return r.before != "" && (dump.Same(r.before, r.after) || dump.Fingerprint(r.before) == r.after)
}

// lengthens tells that the key lives longer when it is put back.
func (r *undoRecord) lengthens() bool {
	return r.livesOn() && r.expires != saysNoTTL && (r.left == saysNoTTL || r.left > r.expires)
}

// boundText tells __held, whether each key holds what it may. The last of ARGV are, for
// each key, the footprints of what was found, how many these are, and its name; and how
// many keys.
var boundText = oneLine(`
local __held = (function(A)
  local function same(d, f)
    local c = string.sub(d, 1, -11)
    if string.byte(d) == 0 then return f == c or f == redis.sha1hex(c) end
    if string.sub(f, 1, 1) ~= '#' then return false end
    if f == '#' or #c > `+strconv.Itoa(dump.MaxFootprint)+` then return true end
    local v = '#' .. string.byte(d, -10) + 256 * string.byte(d, -9) .. ':'
    if string.sub(f, 1, #v) ~= v then return true end
    local kind = string.byte(d)
    if kind ~= 2 and kind ~= 4 then return f == v .. redis.sha1hex(c) end
    local sum, cubes = 0, 0
    for i = 1, #c do
      local x = string.byte(c, i)
      sum, cubes = sum + x, cubes + x * x * x
    end
    return f == string.format('%s%d:%.0f:%.0f', v, #c, sum, cubes)
  end
  local all = true
  for i = 1, tonumber(table.remove(A)) do
    local d = redis.pcall('DUMP', table.remove(A))
    local held = not d
    for j = 1, tonumber(table.remove(A)) do
      local f = table.remove(A)
      held = held or type(d) == 'string' and same(d, f)
    end
    all = all and held
  end
  return all
end)(ARGV)
`) + " "

// bound is a journaled script as it is sent where it is bound.
func bound(s *master.Script) *master.Script {
	return s.Form(func(text string) string { return boundRun + undated(text) })
}

// boundRun goes before a journaled script that is bound.
var boundRun = boundText + "if not __held then return {8, -1, '_', 0} end "
