package browser

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"redlock-proxy/integration"
)

func TestOfARealProxyALocksLifeIsShownAsItGoesOn(t *testing.T) {
	r, b := newReal(t), newTab(t)
	b.open(r)
	b.has("#grants", "3 of 3 masters vote, 2 are needed")
	b.has("#restart", "May be restarted now")
	b.has("#no-locks", "Nothing is held.")
	alice, bob := r.worker("alice"), r.worker("bob")
	alice.gets("OK", "SET stock:17 token-of-alice NX PX 240000")
	for range 3 { // as libraries do, which free what they were refused
		bob.gets(nil, "SET stock:17 token-of-bob NX PX 240000")
		bob.gets(int64(0), "DELEX stock:17 IFEQ token-of-bob")
	}
	b.has("#locks tr", "alice")
	b.votesAre(r, "stock:17", "holds it")
	b.has("#locks td:last-child", "1") // who waits
	b.has("#contended", "3 refused, 1 wait")
	b.has("#contended", "last known: alice (127.0.0.1")

	b.click("#locks button.key", "stock:17")
	b.has("#one-state", "held by alice")
	b.has("#one-facts", "user default")
	b.has("#one-facts", ", this proxy")
	b.has("#one-facts", "refused 3 times, asks every ") // who polls
	b.has("#one-left", "3 min")
	b.has("#parts li", "holds it")
	b.has("#timeline li", "granted")
	b.has("#timeline li", "refused × 3")
	b.has("#timeline li", "named bob")
	alice.gets("OK", "SET stock:17 token-of-alice IFEQ token-of-alice PX 280000")
	b.has("#timeline li", "extended")
	b.has("#one-left", "4 min")
	alice.gets(int64(1), "DELEX stock:17 IFEQ token-of-alice")
	b.has("#timeline li", "released")
	alice.gets(int64(0), "DELEX stock:17 IFEQ token-of-alice")
	b.has("#timeline li", "it was to free or to extend its lock, and had none")
	b.has("#one-state", "free")
	b.has("#parts li", "nothing")
	b.has("#no-locks", "Nothing is held.")
	bob.gets("OK", "SET stock:17 token-of-bob NX PX 240000")
	b.has("#one-state", "held by bob")
	bob.gets("OK", "SET stock:17 token-of-bob IFEQ token-of-bob PX 1000")
	b.has("#timeline li", "expired")
	b.has("#one-state", "free")

	alice.gets("OK", "SET stock:17 token-of-alice NX PX 240000")
	b.has("#one-state", "held by alice")
	for _, m := range r.masters {
		c, err := m.Dial()
		must(t, err)
		defer c.Close()
		if reply, err := c.Do("DEL", "stock:17"); err != nil || reply != int64(1) {
			t.Fatal(reply, err)
		}
	}
	b.has("#one-state", "free, by whom is not known here")
	if text := value[string](b, "document.documentElement.outerHTML"); strings.Contains(text, "token-of-") {
		t.Error("a token is shown")
	}
}

func TestOfARealProxyAMastersTroublesAreShownAsTheyHappen(t *testing.T) {
	r, b := newReal(t), newTab(t)
	first, second, third := fmt.Sprintf(card, 1), fmt.Sprintf(card, 2), fmt.Sprintf(card, 3)
	w := r.worker("alice")
	w.gets("OK", "SET stock:17 token NX PX 280000")
	b.open(r)
	b.votesAre(r, "stock:17", "holds it")

	must(t, r.masters[1].Freeze())
	b.has(second+".state", "down")
	b.has(second, "no answer in time")
	b.has("#grants", "will not be if one more master fails")
	b.has("#events li", r.masters[1].Addr+" down: no answer in time")
	w.gets("OK", "SET stock:18 token NX PX 280000")
	b.click("#locks button.key", "stock:17")
	b.has("#parts li", r.masters[1].Addr+"no answer")
	b.click("#close", "Close")

	must(t, r.masters[2].Kill())
	b.has(third+".state", "down")
	b.has("#grants", "Grants nothing")
	b.until("the tab's title says so", `document.title.includes("grants nothing")`)
	b.has("#events li", "no quorum of masters can vote")

	must(t, r.masters[2].Restart()) // without its memory, and one of those who have it is frozen
	b.until("it is kept from voting", fmt.Sprintf(`/quarantined|catching-up/.test(document.querySelector(%s).textContent)`, quoted(third+".state")))
	b.has(third, "its marker is gone")
	b.has("#events li", r.masters[2].Addr+" quarantined")
	must(t, r.masters[1].Thaw())
	b.has(second+".state", "voting")
	b.has("#grants", "Grants locks")
	b.has(third+".state", "voting")
	b.has("#grants", "3 of 3 masters vote")
	b.has("#events li", r.masters[2].Addr+" voting")
	b.votesAre(r, "stock:17", "holds it")
	w.gets(nil, "SET stock:17 another NX PX 280000")

	c, err := r.masters[0].Dial()
	must(t, err)
	defer c.Close()
	if reply, err := c.Do("FLUSHALL"); reply != "OK" || err != nil {
		t.Fatal(reply, err)
	}
	b.has(first+"details", "1 trouble")
	b.has("#events .happened:has(.bad)", r.masters[0].Addr)
	b.has("#events .happened:has(.bad)", "quarantine")
	b.has(first+".state", "voting")
	b.votesAre(r, "stock:17", "holds it")
}

func TestOfARealProxyOrdersAreCarriedOut(t *testing.T) {
	r, b := newReal(t), newTab(t)
	alice, bob := r.worker("alice"), r.worker("bob")
	alice.gets("OK", "SET stock:17 token-of-alice NX PX 280000")
	b.open(r)
	b.click("#locks button.key", "stock:17")
	b.click("#free", "Free this lock")
	b.press("its client is stuck")
	b.click("#sure-label", "may still be at work")
	b.click("#do", "Free the lock")
	b.has("#said", "OK, its holder does not know of it")
	b.has("#one-state", "free")
	b.has("#timeline li", "forced")
	b.has("#timeline li", "its client is stuck")
	b.has("#events li", "for: its client is stuck, by 127.0.0.1")
	b.has("#events li", "stock:17")
	bob.gets("OK", "SET stock:17 token-of-bob NX PX 280000")
	alice.gets(int64(0), "DELEX stock:17 IFEQ token-of-alice")
	b.has("#one-state", "held by bob")
	b.press("\x1b")

	second := fmt.Sprintf(card, 2)
	b.click(second+".orders button", "Drain")
	b.press("a new disk")
	b.click("#do", "Drain the master")
	b.has(second+".state", "drained")
	b.has("#restart", "Do not restart it now")
	b.has("#events li", r.masters[1].Addr+" LOCK DRAIN: OK")
	b.click(fmt.Sprintf(card, 1)+".orders button", "Drain")
	b.press("a second disk")
	b.click("#do", "Drain the master")
	b.has("#ask-why", "too few can vote for a quorum")
	b.click("#cancel", "Cancel")
	b.click(second+".orders button", "Resume")
	b.press("it is in")
	b.click("#do", "Resume the master")
	b.has(second+".state", "voting")
	b.has("#events li", "for: it is in")
	b.has("#restart", "May be restarted now")
	events, err := bob.c.Do("LOCK", "EVENTS")
	must(t, err)
	for want, told := range map[string]bool{"its client is stuck": true, "a new disk": true, "a second disk": false, "it is in": true} {
		if strings.Contains(fmt.Sprint(events), want) != told { // what was refused is in the log alone
			t.Errorf("LOCK EVENTS tells of %q: %v", want, !told)
		}
	}
}

func TestARealProxyShowsNothingWithoutItsPassword(t *testing.T) {
	r, b := newReal(t, "--requirepass", "secret"), newTab(t)
	c, err := integration.Dial(r.proxy.Addr)
	must(t, err)
	defer c.Close()
	w := worker{t, c}
	w.gets("OK", "AUTH secret")
	w.gets("OK", "SET stock:17 token NX PX 280000")
	for _, who := range []string{"", "default:wrong@", "other:secret@"} {
		at := strings.Replace(r.address(), "://", "://"+who, 1)
		for _, path := range []string{"", "api/overview", "api/locks", "api/lock?key=stock:17", "api/events", "api/stream", "nothing"} {
			answer, err := http.Get(at + path)
			must(t, err)
			body, err := io.ReadAll(answer.Body)
			must(t, err)
			answer.Body.Close()
			if text := string(body); answer.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(text, "a user and his password are asked for") {
				t.Errorf("%s%s is answered %d: %s", who, path, answer.StatusCode, text)
			}
		}
		b.goes(at)
		if text := value[string](b, `document.documentElement ? document.documentElement.outerHTML : ""`); strings.Contains(text, "stock:17") || strings.Contains(text, "verdict") || strings.Contains(text, r.masters[0].Addr) {
			t.Errorf("%q: something is shown: %s", who, text)
		}
	}
	r.at = strings.Replace(r.at, "://", "://default:secret@", 1)
	b.open(r)
	b.has("#locks tr", "stock:17")
	b.click("#locks button.key", "stock:17")
	b.has("#one-state", "held by 127.0.0.1")
	b.click("#free", "Free this lock")
	b.press("it hangs")
	b.click("#sure-label", "may still be at work")
	b.click("#do", "Free the lock")
	b.has("#one-state", "free")
	b.has("#timeline li", "operator default at 127.0.0.1")
	b.has("#events li", "user default")
}
