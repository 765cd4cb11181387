package commands

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"sync"

	"redlock-proxy/quorum"
)

const (
	// Bounds of the script table. What goes over them pushes the oldest scripts
	// out, whose callers then get NOSCRIPT and send them again.
	maxScripts     = 10_000
	maxScriptBytes = 16 << 20

	// No lock script is as long as this. Longer ones are kept, not read.
	maxLockScript = 16 << 10
)

// script is one script that was loaded or run. It never changes.
type script struct {
	text, sha string
	shape     shape
	known     bool // whether it has a shape
	shebang   shebang

	journaled *quorum.Script // how it runs otherwise; nil if it cannot
}

// scriptTable is the scripts that all sessions share. The masters have a table of
// their own, which nobody asks.
type scriptTable struct {
	maxNumber, maxBytes int

	fixed map[string]*script // by SHA-1; always there, and not counted

	mu     sync.RWMutex // guards what follows
	bySHA  map[string]*script
	byText map[string]*script
	order  []*script // oldest first
	bytes  int
}

func newScriptTable(maxNumber, maxBytes int) *scriptTable {
	t := &scriptTable{maxNumber: maxNumber, maxBytes: maxBytes, fixed: make(map[string]*script)}
	for _, text := range fixedScripts {
		sc := newScript(text)
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
	return t.bySHA[string(buf[:])]
}

// enter gives the script with this text, new or not; nil if it is too long for
// the table. One whose first line is at fault is not kept.
func (t *scriptTable) enter(text string) *script {
	t.mu.RLock()
	sc := t.byText[text]
	t.mu.RUnlock()
	if sc != nil || len(text) > t.maxBytes {
		return sc
	}
	// Hashed and read without the lock: two who enter one text at once do it
	// twice, and the first one's is kept.
	if sc = newScript(text); sc.shebang.fault != "" {
		return sc
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if earlier := t.bySHA[sc.sha]; earlier != nil {
		return earlier
	}
	t.bySHA[sc.sha], t.byText[sc.text] = sc, sc
	t.order = append(t.order, sc)
	t.bytes += len(sc.text)
	t.trim()
	return sc
}

// trim pushes the oldest scripts out. mu is held. The one entered last stays,
// for it fits alone.
func (t *scriptTable) trim() {
	for len(t.order) > t.maxNumber || t.bytes > t.maxBytes {
		oldest := t.order[0]
		t.order[0] = nil
		t.order = t.order[1:]
		t.bytes -= len(oldest.text)
		delete(t.bySHA, oldest.sha)
		delete(t.byText, oldest.text)
	}
}

// newScript keeps its own copy of the text, which may be part of something larger.
func newScript(text string) *script {
	sum := sha1.Sum([]byte(text))
	sc := &script{text: strings.Clone(text), sha: hex.EncodeToString(sum[:])}
	if len(text) <= maxLockScript {
		var body string
		sc.shebang, body = cutShebang(sc.text)
		sc.shape, sc.known = recognise(sc.text)
		if luaBalanced(body) {
			sc.journaled = quorum.NewScript(body)
		}
	}
	return sc
}
