package engine

import (
	"fmt"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// unsignedOn are commands that name no token.
var unsignedOn = map[string]quorum.Request{
	"SET":      {Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "new"}},
	"PEXPIRE":  {Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", "-1"}},
	"DEL":      {Kind: quorum.Remove, Key: "k"},
	"a script": runOf(seizeScript, "k", "new", "60000"),
	"a step":   runOf(seizeStep, "k", "new", "60000"),
	"FLUSHALL": {Kind: quorum.Survey, Args: []string{"FLUSHALL"}},
	"FLUSHDB":  {Kind: quorum.Survey, Args: []string{"FLUSHDB"}},
}

// A master that is stopped has it in a socket, and B's lock by then. The clocks of masters
// are as far apart as they like.
func TestWhatNamesNoTokenIsNotCarriedOutBehindItsDecision(t *testing.T) {
	for name, ask := range unsignedOn {
		for _, off := range []time.Duration{0, time.Hour, -time.Hour} {
			for _, late := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %v off, late %t", name, off, late), func(t *testing.T) {
					inWorld(t, 3, func(w *world) {
						w.knowsSteps()
						w.masters[2].set(func(m *fakeMaster) { m.jumped += off })
						w.stop(w.engine)
						w.engine = w.start(w.cfg)
						w.votesWithin(3, 2*w.cfg.QuarantineTime())
						w.sets("k", "a", time.Minute, 1, 2)
						w.sets("k", "b", time.Minute, 3)
						w.masters[2].freeze()
						asked := time.Now()
						r := w.put(ask)
						after := w.cfg.AcquireTimeout - 20*ms
						if late {
							after += 50 * ms
						}
						time.Sleep(after - time.Since(asked))
						w.masters[2].unfreeze()
						w.want(r.wait(t), quorum.Won)
						w.settle()
						// What was not sent before the others had decided is bound.
						came, left := w.masters[2].commands("late "), w.masters[2].commands("left")
						if !late && len(came) > 0 || late && len(came)+len(left) == 0 {
							t.Errorf("it came too late: %q, was left: %q", came, left)
						}
						if v := w.masters[2].value("k"); late && v != "b" {
							t.Errorf("B's lock became %q", v)
						}
					})
				})
			}
		}
	}
}
