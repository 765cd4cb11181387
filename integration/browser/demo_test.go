package browser

import (
	"fmt"
	"path/filepath"
	"testing"

	"redlock-proxy/integration"
)

// newDemo is the program's demo, whose masters are in the process.
func newDemo(t *testing.T) *real {
	t.Helper()
	program.Do(build)
	must(t, program.err)
	proxy, err := integration.StartProxy(integration.ProxyOptions{Path: filepath.Join(program.dir, "redlock-proxy"), Bare: true,
		Args: []string{"demo", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"}})
	must(t, err)
	t.Cleanup(func() {
		if code, err := proxy.Terminate(hangs); code != 0 || err != nil {
			t.Errorf("the demo ended with %d, %v\n%s", code, err, proxy.Log())
		}
	})
	r := &real{t: t, proxy: proxy}
	r.at = r.logged(`the admin listener is open: at=(\S+)`)
	r.logged(`every master has been tried: ready=(true)`)
	return r
}

func TestInADemoAMasterIsBrokenByAClick(t *testing.T) {
	r, b := newDemo(t), newTab(t)
	b.open(r)
	b.has("#contended", "demo:stock")
	first := fmt.Sprintf(card, 1)
	b.click(first+".demo button", "Kill")
	b.has("#said", "it is killed")
	b.has(first+".state", "down")
	b.click(first+".demo button", "Kill")
	b.has("#said", "start it first")
	b.click(first+".demo button", "Start blank")
	// A look each second sees it in quarantine, catching up, or only that it was.
	b.until("it is told what became of it", `[...document.querySelectorAll("#events li")].some(e => /quarantine|catching-up/.test(e.textContent))`)
	b.has(first+".state", "voting")
	b.click(first+".demo button", "Clock an hour ahead")
	b.has(first+".facts", "+36000")
	b.has(first+".state", "voting")
}

func TestOutsideOfADemoNoMasterCanBeBroken(t *testing.T) {
	h, b := newHouse(t, true), newTab(t)
	b.open(h)
	b.has(".orders button", "Drain")
	b.until("nothing can be broken", `![...document.querySelectorAll(".demo")].some(e => e.checkVisibility())`)
}
