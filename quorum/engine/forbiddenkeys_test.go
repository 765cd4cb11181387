package engine

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum/catchup"
)

// forbidKeys has a master not let our user touch keys that begin with "theirs", in the words of
// several versions, whether a command names them or a script does.
func forbidKeys(m *fakeMaster) {
	says := "-NOPERM this user has no permissions to access one of the keys used as arguments\r\n"
	if m.name == "m2" {
		says = "-NOPERM No permissions to access a key\r\n"
	}
	theirs := func(arg string) bool { return strings.HasPrefix(arg, "theirs") }
	m.set(func(m *fakeMaster) {
		m.respond = func(args []string) string {
			if !runs(args, catchup.SiftScript) {
				if slices.ContainsFunc(args[1:], theirs) {
					return says
				}
				return ""
			}
			n, _ := strconv.Atoi(args[2])
			letters := ""
			for _, name := range args[3+n:] {
				if theirs(name) {
					letters += "!"
				} else {
					letters += "="
				}
			}
			return array(bulk(letters))
		}
	})
}

// Whoever may write to a master beside the proxy, or ask a proxy for a key that another master
// forbids, keeps nobody from being given what it lost.
func TestForbiddenKeyEndsNoCatchUp(t *testing.T) {
	for name, c := range map[string]struct {
		forbid, hold []int
		given        string
	}{
		"by all, and one of them holds it":             {[]int{1, 2, 3}, []int{2}, ""},
		"by the master that is given":                  {[]int{1}, []int{2, 3}, ""},
		"by a source that has not got it":              {[]int{2}, []int{3}, "x"},
		"by a source that is read last":                {[]int{3}, []int{2}, "x"},
		"by the master and the source that has got it": {[]int{1, 2}, []int{2}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			operated(t, func(w *world, log *logged) {
				w.sets("ours", "a", time.Hour, 1, 2)
				for i := range 2 * catchup.PageKeys {
					w.sets("among"+strconv.Itoa(i), "a", time.Hour, 1, 2, 3)
				}
				w.sets("theirs", "x", time.Hour, c.hold...)
				w.sets("theirs, too", "x", time.Hour, c.hold...)
				w.each(forbidKeys, c.forbid...)
				w.lose(1)
				w.votesWithin(1, 3*time.Second)
				w.wantValues("ours", "a", "a", "")
				if v := w.masters[0].value("theirs"); v != c.given {
					t.Errorf("it is given %q, want %q", v, c.given)
				}
				w.laid()
				lines := log.lines("[WARN]  master does not let its user touch")
				if len(lines) == 0 || len(lines) > len(c.forbid) || !strings.Contains(lines[0], "theirs") {
					t.Errorf("it is told %d times: %q", len(lines), lines)
				}
				w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.respond = nil }) }, 1, 2, 3)
			})
		})
	}
}

// A has k since before master 2 forbade it, or through another proxy. All else is given.
func TestWhatASourceForbidsAndHoldsIsNotTakenForNothing(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		w.sets("theirs", "a", time.Hour, 1, 2)
		w.sets("ours", "a", time.Hour, 1, 2)
		w.each(forbidKeys, 2)
		w.lose(1)
		w.votesNotWithin(1, w.cfg.MaxTTL-time.Second)
		w.wantValues("ours", "a", "a", "")
		if lines := log.lines("touch keys"); len(lines) != 1 || !strings.Contains(lines[0], "master=m2") {
			t.Errorf("it is told %d times: %q", len(lines), lines)
		}
		w.votesWithin(1, 3*time.Second)
		if lines := log.lines("could not be given"); len(lines) != 1 || !strings.Contains(lines[0], "m2: it does not let its user touch a key that it holds") {
			t.Errorf("%q", lines)
		}
	})
}

// As many others as are needed tell of it.
func TestWhatASourceForbidsIsToldByOthers(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		w.sets("theirs", "a", time.Hour, 1, 2, 3)
		w.each(forbidKeys, 2)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		w.wantValues("theirs", "a", "a", "a", "", "")
	})
}

// Were it laid, B would have it of 1 and 3 when the ACL of 2 lets A's lock be seen again.
func TestWhatASourceForbidsIsNoGhost(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		w.sets("theirs", "a", time.Hour, 1, 2)
		w.sets("ghost", "a", time.Hour, 1)
		w.each(forbidKeys, 2)
		w.masters[0].forget("redlock-proxy:{marker}")
		w.noticed(1)
		w.votesWithin(1, 2*w.cfg.MaxTTL)
		w.laid()
		w.laid()
		w.wantValues("ghost", "", "", "")
		w.wantValues("theirs", "a", "a", "")
	})
}

// Nor does a key that the master itself forbids keep it from being freed of others.
func TestForbiddenKeyKeepsNoGhostFromBeingLaid(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		w.sets("theirs", "a", time.Hour, 1)
		w.sets("ghost", "a", time.Hour, 1)
		w.each(forbidKeys, 1, 2, 3)
		w.masters[0].forget("redlock-proxy:{marker}")
		w.noticed(1)
		w.votesWithin(1, 3*time.Second)
		w.laid()
		w.wantValues("ghost", "", "", "")
		w.wantValues("theirs", "a", "", "")
	})
}
