package commands

import "redlock-proxy/quorum"

// GETSET is how locks were taken over before there were scripts: whoever gets the
// expired value back has the lock. If each master answered what it had, this would
// happen with two proxies:
//
//	1: A, B and C swap the expired value at one master each, and then one another's
//	2: nobody saw one value on a quorum but C, who saw A's
//	3: A and B are undone, and see C's value when they try again
//
// and nobody has the lock. So the value is read first, and swapped only on masters
// that hold it: it is answered to the one who found it on a quorum.

// maxSwaps bounds how often a GETSET goes on with the value that came in between.
// All clients that swap one key at once are in each other's way, but for one.
const maxSwaps = 100

// swapScript sets KEYS[1] to ARGV[3] if it holds ARGV[2] (ARGV[1] is string) or
// nothing (absent). Else it answers what is there.
var swapScript = quorum.NewStep(`local v = redis.call('GET', KEYS[1])
local same = v == ARGV[2]
if ARGV[1] == 'absent' then same = not v end
if same then return redis.call('SET', KEYS[1], ARGV[3]) end
return v`)

func (s *Session) getset(c *Command, args []string) Action {
	if text := s.d.allowNoTTL(); text != "" {
		return refuse(text)
	}
	requests := forEach(quorum.Read, args[1:2])
	requests[0].ValueOnly = true
	return Action{Requests: requests, Render: toSwap{args[1], args[2]}, Continues: true}
}

// toSwap is a GETSET that learns what there is to swap.
type toSwap struct{ key, value string }

func (t toSwap) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	if text, failed := failure(r); failed {
		return text, Action{}
	}
	old, _ := stateRead(r)
	return Reply{}, swapping{t.key, t.value, old, maxSwaps}.action()
}

// swapping is a GETSET that swaps old.
type swapping struct {
	key, value string
	old        keyState
	left       int // tries after this one
}

func (s swapping) action() Action {
	return runOwn(swapScript, []string{s.key}, []string{s.old.form, s.old.value, s.value}, s)
}

func (s swapping) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	if text, failed := failureOfRun(r); failed {
		return text, Action{}
	}
	switch {
	case r.Decision != quorum.Won && s.left > 0:
		s.left--
		s.old = keyState{form: formAbsent}
		if r.Script.Kind == quorum.BulkReply {
			s.old = keyState{formString, r.Script.Str}
		}
		return Reply{}, s.action()
	case r.Decision != quorum.Won:
		r.Decision = quorum.Split
		return unavailable(r), Action{}
	case s.old.form == formAbsent:
		return Null, Action{}
	}
	return Bulk(s.old.value), Action{}
}
