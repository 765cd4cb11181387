package journal

import (
	"strings"
	"sync"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// constants are the scripts that run what they are given.
var constants struct {
	mu   sync.Mutex
	made map[constantKey]*master.Script
}

type constantKey struct {
	bounds  quorum.Bounds
	reads   bool
	reaches bool
	latches bool
	text    string // of ours; "" if it is a client's
}

// constantLine is where the prelude is in a constant script: behind any line that a script
// can have.
const constantLine = 1 + 70_000

// Constant is the script that runs a client's where that is given to it as an argument: one for
// all that have the same bounds.
func (f *Form) Constant() *master.Script {
	b, k := f.Printed.Bounds, constantKey{bounds: f.Printed.Bounds, reads: f.Reads, reaches: f.Reaches, latches: f.Latches}
	return constant(k, func() *master.Script {
		w := first(f.Script)
		w.bounds = &b
		return master.NewScript(w.first + "local __make,__e=loadstring(table.remove(ARGV,3),'@user_script') if not __make then return {err='ERR Error compiling script (new function): '..__e} end" +
			strings.Repeat("\n", constantLine-1) + prelude.run(constantLine, helpers.all(), w))
	})
}

// running is a script of ours that runs clients': one for all that have the same bounds. Its lines are none of theirs.
func running(s *quorum.Script) *master.Script {
	return constant(constantKey{*s.Runs, s.Reads, s.Reaches, s.Latches, s.Text}, func() *master.Script {
		w := first(s)
		w.bounds, w.runs = s.Runs, true
		return prelude.wrap(s.Text, w)
	})
}

func constant(k constantKey, build func() *master.Script) *master.Script {
	constants.mu.Lock()
	defer constants.mu.Unlock()
	if s := constants.made[k]; s != nil {
		return s
	}
	if constants.made == nil {
		constants.made = make(map[constantKey]*master.Script)
	}
	s := build()
	constants.made[k] = s
	return s
}
