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
	bounds quorum.Bounds
	reads  bool
}

// constantLine is where the prelude is in a constant script: behind any line that a script
// can have.
const constantLine = 1 + 70_000

// Constant is the script that runs a client's where that is given to it as an argument: one for
// all that have the same bounds.
func (f *Form) Constant() *master.Script {
	constants.mu.Lock()
	defer constants.mu.Unlock()
	b, reads := f.Printed.Bounds, f.Reads
	k := constantKey{b, reads}
	if s := constants.made[k]; s != nil {
		return s
	}
	if constants.made == nil {
		constants.made = make(map[constantKey]*master.Script)
	}
	s := master.NewScript(DatedText + "local __make,__e=loadstring(table.remove(ARGV,3),'@user_script') if not __make then return {err='ERR Error compiling script (new function): '..__e} end" +
		strings.Repeat("\n", constantLine-1) + prelude.run(constantLine, helpers.all(), wrapping{reads: reads, bounds: &b}))
	constants.made[k] = s
	return s
}
