package engine

import (
	"slices"
	"strconv"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
	"redlock-proxy/quorum/journal"
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
func (o *op) weigh(c decide.Votes) quorum.Decision {
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
	if !o.unsigned() || o.ballot.Load().Decision() == quorum.Undecided {
		return false
	}
	t := decide.Votes(o.deciders.Load()).Tally(len(o.Said))
	return t.Granted+t.Refused >= t.Quorum()
}

// found calls see with what each of those found who decided, and carried the op out, if only to
// remove something.
func (o *op) found(see func(*decide.Said)) {
	c := decide.Votes(o.deciders.Load())
	no := o.ballot.Load().Decision() == quorum.Contended
	for i := range o.Said {
		if c.Vote(i) == quorum.Granted && c.Did(i) || no && o.HasTidied(c, i) {
			see(&o.Said[i])
		}
	}
}

// boundArgv is argv, or runArgv, of an op that is bound.
func (o *op) boundArgv(b []string, link *master.Link) []string {
	switch {
	case o.Kind == quorum.Run:
		s, chunk := journal.FormOf(o.Script).Runs()
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
	o.found(func(s *decide.Said) {
		if s.Journal == nil {
			return
		}
		for _, r := range s.Journal.Found {
			if !slices.Contains(keys, r.Key) {
				keys = append(keys, r.Key)
			}
			if r.Before != "" {
				befores[r.Key] = append(befores[r.Key], dump.Footprint(r.Before))
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
func (o *op) strange(r *decide.UndoRecord) bool {
	if r.Before == "" || !o.unsigned() {
		return false
	}
	strange := true
	o.found(func(s *decide.Said) {
		if s.Journal == nil {
			return
		}
		if theirs := decide.RecordOf(s.Journal.Found, r.Key); theirs != nil && dump.MaybeSame(theirs.Before, r.Before) {
			strange = false
		}
	})
	return strange
}

// intrudes tells that master i has carried out what was won, on what was somebody else's.
func (r ruling) intrudes(i int) bool {
	intrudes := false
	for j := range r.Said[i].Journal.Records() {
		intrudes = r.intrudesOn(&r.Said[i].Journal.Undo[j], i) || intrudes
	}
	return intrudes
}

// intrudesOn is intrudes as to one key. What is put back is noted as what is still there.
func (r ruling) intrudesOn(record *decide.UndoRecord, i int) bool {
	again := &decide.UndoRecord{Before: record.Before, After: record.Before}
	return r.strange(record) && (record.LivesOn() || !r.db.laggards.still(record.Key, i, again, r.now, 2*r.db.AcquireTimeout))
}

// boundText tells __held, whether each key holds what it may. The last of ARGV are, for
// each key, the footprints of what was found, how many these are, and its name; and how
// many keys.
var boundText = journal.OneLine(`
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
	return s.Form(func(text string) string { return boundRun + journal.Undated(text) })
}

// boundRun goes before a journaled script that is bound.
var boundRun = boundText + "if not __held then return {8, -1, '_', 0} end " + journal.NowText
