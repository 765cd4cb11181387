package commands

import (
	"crypto/sha1"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"redlock-proxy/quorum"
)

// A client's script in a transaction is carried out between the other commands, by the script of ours that carries
// out those: so all is one step. It is given what was printed of it, as an argument.

// mostOfScripts bounds the text of the scripts of one transaction, each counted once: masters read it at every call.
const mostOfScripts = maxLockScript

// mostMixes is how many transactions with scripts are told apart by what they took.
const mostMixes = 1000

// scriptCalled is a script with what it is called with.
type scriptCalled struct {
	sc         *script
	keys, argv []string
	reads      bool // it may not write, see EVAL_RO
	confined   bool // it may use no keys but those that it was given, see judged
	tells      bool // its client is to be told when its keys change
}

// mixes are the scripts of ours that carry out transactions with clients' scripts: one for those that call the same
// in the same order. What masters know is one and the same; what is seen of how much it takes is not.
type mixes struct {
	bounds quorum.Bounds

	mu   sync.Mutex // guards what follows
	made map[[sha1.Size]byte]*quorum.Script
}

// of is that for the scripts of a transaction, none of which uses other keys than it was given where one may not.
// All are forgotten where they are too many.
func (m *mixes) of(steps []step) *quorum.Script {
	h := sha1.New()
	for i := range steps {
		if call := steps[i].call; call != nil {
			h.Write([]byte(call.sc.sha))
		}
	}
	reaches := reachesAny(steps)
	sum := [sha1.Size]byte(h.Sum(nil))
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.made[sum]
	if s == nil {
		if len(m.made) >= mostMixes || m.made == nil {
			m.made = make(map[[sha1.Size]byte]*quorum.Script)
		}
		s = quorum.NewRunner(execText, m.bounds)
		m.made[sum] = s
	}
	if !reaches {
		return s.Confined()
	}
	return s
}

// reachesAny tells that a script of a transaction may use keys that it was not given, and all of them might.
func reachesAny(steps []step) (reaches bool) {
	for i := range steps {
		switch call := steps[i].call; {
		case call == nil:
		case call.confined:
			return false
		default:
			reaches = reaches || call.sc.journaled.Reaches
		}
	}
	return reaches
}

// scriptsOf are the scripts of a transaction, each once.
func scriptsOf(steps []step) (list []*script) {
	for i := range steps {
		if call := steps[i].call; call != nil && !slices.Contains(list, call.sc) {
			list = append(list, call.sc)
		}
	}
	return list
}

// overlong is what is said of scripts that have more text than those of one transaction may.
var overlong = fmt.Sprintf(errScriptsLong, mostOfScripts)

// textOf is how much text scripts have.
func textOf(list []*script) (n int) {
	for _, sc := range list {
		n += len(sc.text)
	}
	return n
}

// words are the call as execText is told, of which script is the number.
func (c *scriptCalled) words(script int) []string {
	words := []string{"0", strconv.Itoa(script), strconv.FormatBool(c.reads), strconv.Itoa(len(c.keys))}
	words = append(words, c.keys...)
	words = append(words, strconv.Itoa(len(c.argv)))
	return append(words, c.argv...)
}

// printedWords are a script as execText is told.
func (sc *script) printedWords() []string {
	p := sc.journaled.Printed
	return []string{p.Body, strings.Join(p.Helpers, " "), sc.sha}
}

// queueScript takes a script into the transaction, or says why it is not for one. One that Redis would not compile
// either is an error when it is carried out; of one that is not known yet nothing can be said.
func (s *Session) queueScript(args []string, eval bool) (refusal string) {
	sc := s.scriptNamed(args[1])
	if eval {
		sc = s.d.scripts.enter(args[1])
	}
	tx := &s.tx
	switch {
	case sc == nil:
		return ""
	case sc.fault != "":
		if strings.HasPrefix(sc.fault, "ERR Error compiling") {
			return ""
		}
		return sc.fault
	case slices.Contains(tx.scripts, sc.sha):
		return ""
	case tx.text+len(sc.text) > mostOfScripts:
		return overlong
	}
	tx.scripts = append(tx.scripts, sc.sha)
	tx.text += len(sc.text)
	return ""
}

// waitScript does nothing: its answer comes after those of what was asked before. Before what may be
// about other keys, it waits for these as well.
var (
	waitScript     = quorum.NewScript("return 1").ReadOnly()
	waitsForOthers = quorum.NewReaching("return 1").ReadOnly()
)

func (e *execution) waiting() *quorum.Script {
	if reachesAny(e.steps) {
		return waitsForOthers
	}
	return waitScript
}
