package commands

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"redlock-proxy/commands/lua"
	"redlock-proxy/commands/recognise"
	"redlock-proxy/quorum"
)

const (
	// Bounds of the script table. What goes over them pushes the oldest scripts
	// out that nobody has used lately, whose callers then get NOSCRIPT and send them again.
	maxScripts     = 10_000
	maxScriptBytes = 12 << 20

	// maxLockScript is far beyond any lock script.
	maxLockScript = 64 << 10
)

// script is one script that was loaded or run. But for used and what is read of it later it never changes.
type script struct {
	text, sha string
	shape     recognise.Shape
	known     bool // whether it has a shape
	shebang   shebang
	fault     string         // why it is not for masters, as an error; "" if it is
	journaled *quorum.Script // how it runs otherwise; nil where it has a fault
	printed   int            // bytes of what that is printed as
	used      atomic.Bool    // since it was last among the oldest

	read   sync.Once // guards called
	called scriptCalls
}

// size is about how many bytes are kept.
func (sc *script) size() int { return len(sc.text) + sc.printed + 2<<10 }

// scriptTable is the scripts that all sessions share. The masters have a table of
// their own, which nobody asks.
type scriptTable struct {
	maxNumber, maxBytes int
	bounds              quorum.Bounds

	fixed map[string]*script // by SHA-1; always there, and not counted

	mu     sync.RWMutex // guards what follows
	bySHA  map[string]*script
	byText map[string]*script
	order  []*script // oldest first
	bytes  int
}

func newScriptTable(maxNumber, maxBytes int, bounds quorum.Bounds) *scriptTable {
	t := &scriptTable{maxNumber: maxNumber, maxBytes: maxBytes, bounds: bounds, fixed: make(map[string]*script)}
	for _, text := range fixedScripts {
		sc := newScript(text, bounds)
		t.fixed[sc.sha] = sc
	}
	t.flush()
	return t
}

func (t *scriptTable) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bySHA, t.byText = make(map[string]*script), make(map[string]*script)
	t.order, t.bytes = nil, 0
}

// find looks a script up by its SHA-1, in any case; nil if it is not there.
func (t *scriptTable) find(sha string) *script {
	if len(sha) != 2*sha1.Size {
		return nil
	}
	var buf [2 * sha1.Size]byte
	for i := range len(sha) {
		buf[i] = lowerByte(sha[i])
	}
	if sc := t.fixed[string(buf[:])]; sc != nil {
		return sc
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.bySHA[string(buf[:])].use()
}

// use notes that the script, if it is one, is used. What all write is written once.
func (sc *script) use() *script {
	if sc != nil && !sc.used.Load() {
		sc.used.Store(true)
	}
	return sc
}

// enter gives the script with this text, new or not. One that is at fault is not kept.
func (t *scriptTable) enter(text string) *script {
	t.mu.RLock()
	sc := t.byText[text].use()
	t.mu.RUnlock()
	if sc != nil {
		return sc
	}
	// Hashed and read without the lock: two who enter one text at once do it
	// twice, and the first one's is kept.
	if sc = newScript(text, t.bounds); sc.fault != "" {
		return sc
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if earlier := t.bySHA[sc.sha]; earlier != nil {
		return earlier.use()
	}
	t.bySHA[sc.sha], t.byText[sc.text] = sc, sc
	t.makeRoom(sc.size())
	t.order = append(t.order, sc)
	t.bytes += sc.size()
	return sc
}

// kept is how many scripts are kept, and about how many bytes they take.
func (t *scriptTable) kept() (number, bytes int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.order), t.bytes
}

// makeRoom pushes the oldest scripts out; one that was used since it was last among them is
// young once more. mu is held.
func (t *scriptTable) makeRoom(size int) {
	for len(t.order) > 0 && (len(t.order) >= t.maxNumber || t.bytes+size > t.maxBytes) {
		oldest := t.order[0]
		t.order[0] = nil
		if t.order = t.order[1:]; oldest.used.Swap(false) {
			t.order = append(t.order, oldest)
			continue
		}
		t.bytes -= oldest.size()
		delete(t.bySHA, oldest.sha)
		delete(t.byText, oldest.text)
	}
}

// newScript keeps its own copy of the text, which may be part of something larger.
func newScript(text string, bounds quorum.Bounds) *script {
	sum := sha1.Sum([]byte(text))
	sc := &script{text: strings.Clone(text), sha: hex.EncodeToString(sum[:])}
	if len(text) > maxLockScript {
		sc.fault = fmt.Sprintf(errScriptLong, maxLockScript)
		return sc
	}
	var body string
	if sc.shebang, body = cutShebang(sc.text); sc.shebang.fault != "" {
		sc.fault = sc.shebang.fault
		return sc
	}
	program, err := lua.Read(body)
	if err != nil {
		sc.fault = faultOf(err, sc.sha)
		return sc
	}
	sc.shape, sc.known = recognise.Script(sc.text)
	sc.printed = len(program.Body)
	sc.journaled = quorum.NewPrinted(quorum.Printed{Body: program.Body, Helpers: program.Helpers, Bounds: bounds})
	sc.journaled.Frees = namesDeletion(body)
	called := callsOf(body)
	sc.journaled.Reaches, sc.journaled.Latches = called.reaches(), called.shares()
	sc.journaled.Exact = sc.journaled.Latches
	return sc
}

// namesDeletion tells that a string in a script is the name of what deletes a key.
func namesDeletion(body string) bool {
	tokens, _ := lua.Lex(body)
	return slices.ContainsFunc(tokens, func(t lua.Token) bool {
		return t.Kind == lua.String && (sameWord(t.Text, "del") || sameWord(t.Text, "unlink"))
	})
}

// faultOf is the error for a script that cannot be read: in Redis's words where that would
// not compile it either.
func faultOf(err error, sha string) string {
	var e *lua.Error
	if !errors.As(err, &e) {
		return "ERR " + err.Error()
	}
	if strings.HasPrefix(e.Text, "Error compiling") {
		return "ERR " + e.Text
	}
	return fmt.Sprintf("ERR %s script: %s, on @user_script:%d.", e.Text, sha, e.Line)
}
