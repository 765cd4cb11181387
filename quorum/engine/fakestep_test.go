package engine

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
	"redlock-proxy/quorum/journal"
)

// What a fake master does with steps: it counts, or sets where a value is what it
// should be, and holds latches as latch.go says.

var (
	countStep = quorum.NewCountUp("return redis.call('INCR', KEYS[1])")
	downStep  = quorum.NewCountDown("return redis.call('DECR', KEYS[1])")
	setStep   = quorum.NewStep("if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('SET', KEYS[1], ARGV[2]) end return false")
)

// knowsSteps has the masters carry out steps.
func (w *world) knowsSteps() {
	for _, m := range w.masters {
		m.set(func(m *fakeMaster) { m.respond = m.step })
	}
}

// step answers "" to what is no step.
func (m *fakeMaster) step(args []string) string {
	if args[0] == "EVALSHA" && args[1] == latchScript.SHA {
		n := 3 + keysOf(args)
		m.log = append(m.log, fmt.Sprintf("%s %s", args[n+1], args[3]))
		return integer(m.endStep(args[3], args[6], args[8:n], args[n:]))
	}
	if args[0] == "EVALSHA" && args[1] == letGoScript.SHA {
		return m.letsGo(args[4:3+keysOf(args)], args[3+keysOf(args):])
	}
	if !strings.HasPrefix(args[0], "EVAL") {
		return ""
	}
	for _, s := range []*quorum.Script{countStep, downStep, setStep, seizeStep, renewStep, freeStep, watchStep, pushStep, popStep, tellStep, mendStep} {
		if args[1] == journal.FormOf(s).Own().SHA || args[1] == journal.FormOf(s).Own().Text {
			return m.act(s, keysOf(args), args[3:])
		}
	}
	return ""
}

// act carries a step out, of which args are its keys, so many, the time, its arguments, what is left
// of its keys, who it is, and how long its latches live.
func (m *fakeMaster) act(s *quorum.Script, of int, args []string) string {
	n := len(args) - 3
	keys, argv, holder, lease := args[:of], args[of+2:n], args[n+1], args[n+2]
	for _, key := range keys {
		latch := journal.Latch(key)
		if l, ok := m.key(latch); ok && l.value[:16] != holder[:16] {
			if !strings.HasSuffix(l.value, "!") {
				l.value += "!"
				m.keys[latch] = l
			}
			m.note([]string{"busy", key})
			return array(integer(decide.FlagBusy), integer(-1), bulk("_"), integer(0))
		}
	}
	m.note([]string{"step", keys[0]})
	holds := strings.HasPrefix(args[n], journal.Hold)
	reply, does := m.journaled(s, holder, keys, argv, holds)
	if does.flags != 0 {
		m.noteStep(keys[0], holder, argv, does.value)
	}
	for _, key := range keys {
		if does.flags != 0 || holds {
			m.expire(journal.Latch(key), fakeKey{value: holder}, lease)
		}
	}
	return reply
}

func (m *fakeMaster) endStep(key, latch string, won, args []string) int64 {
	l, held := m.key(latch)
	mine := held && (l.value == args[0] || l.value == args[0]+"!")
	if !mine && (held || args[0] != "") {
		return 0
	}
	r := int64(saysEnded)
	now, _ := m.dump(key)
	k, _ := m.key(key)
	_, _, _, _, known := m.leftOf(key)
	if args[0] != "" && args[1] != "take-back" && !known {
		r = 0
	} else if dump.Fingerprint(now) != args[3] || !m.same(args[9]) || !m.ends(k, args[6], args[7], args[8]) {
		r = 0
	} else {
		m.becomes(key, args[4], args[5], args[10], args[11])
		m.stepsLeave(key, args[4], args[12])
		m.undoStep(key, args[0], args[1])
	}
	for i, key := range won {
		if mine {
			m.stepWon(key, args[len(args)-len(won)+i])
		}
	}
	if mine && args[2] == "" {
		r += m.unlatch(latch, args[0])
	}
	return r
}

// unlatch drops a latch that is the holder's, and tells whether that has kept somebody out.
func (m *fakeMaster) unlatch(latch, holder string) int64 {
	l, _ := m.key(latch)
	delete(m.keys, latch)
	if l.value != holder {
		return saysWanted
	}
	return 0
}

// letsGo ends steps, of which keys are their latches, and behind each what is won.
func (m *fakeMaster) letsGo(keys, args []string) string {
	var all []string
	for len(keys) > 0 {
		n, _ := strconv.Atoi(args[1])
		latch, holder, said := keys[0], args[0], int64(0)
		m.log = append(m.log, "let-go "+strings.TrimPrefix(latch, journal.Latch("")))
		if l, held := m.key(latch); held && (l.value == holder || l.value == holder+"!") {
			for i, key := range keys[1 : 1+n] {
				m.stepWon(key, args[2+i])
			}
			said = saysEnded + m.unlatch(latch, holder)
		}
		all, keys, args = append(all, integer(said)), keys[1+n:], args[2+n:]
	}
	return array(all...)
}

// latch has another proxy's step latch a key.
func (m *fakeMaster) latch(key string, d time.Duration) {
	m.put(journal.Latch(key), "another-proxy-00:1", d)
}

func (w *world) stepOn(s *quorum.Script, key string, args ...string) *waiter {
	return w.put(quorum.Request{Kind: quorum.Run, Script: s, Key: key, Keys: []string{key}, Args: args})
}

func (w *world) count(key string) quorum.Result {
	w.t.Helper()
	return w.stepOn(countStep, key).wait(w.t)
}

// wantNumber tells whether a step was answered with a number.
func (w *world) wantNumber(r quorum.Result, n int64) {
	w.t.Helper()
	if r.Decision != quorum.Won || r.Script == nil || r.Script.Int != n {
		w.t.Fatalf("the step came to %v, %+v; want %d", r.Decision, r.Script, n)
	}
}

// wantFree tells whether no master holds a latch of the key.
func (w *world) wantFree(key string) {
	w.t.Helper()
	for _, m := range w.masters {
		if v := m.value(journal.Latch(key)); v != "" {
			w.t.Errorf("%s holds the latch of %s for %s", m.name, key, v)
		}
	}
}
