package browser

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const card = ".master:nth-child(%d) "

func TestAMastersDeathAndReturnAreShownAsTheyHappen(t *testing.T) {
	h, b := newHouse(t, false), newTab(t)
	for i := range 14 {
		h.acquire(fmt.Sprintf("worker-%d", i%5), fmt.Sprintf("orders:%04d:settle", i*37), time.Duration(20+i*11)*time.Minute)
	}
	h.sitsBy("worker-9", "orders:0037:settle", 12)
	h.forget("orders:0111:settle")
	b.open(h)
	b.has("#grants", "Grants locks")
	b.has("#grants", "3 of 3 masters can vote")
	b.has("#restart", "May be restarted now")
	b.has("#locks tr", "orders:0000:settle")
	third := fmt.Sprintf(card, 3)
	for _, name := range h.masters() {
		b.has(".master h3", name)
	}
	b.picture("wide")

	h.kill(2)
	b.has(third+".state", "down")
	b.has(third, "connection refused")
	b.has("#grants", "2 of 3 masters can vote")
	b.has("#restart", "Do not restart it now")
	b.has("#events", "is down")
	b.picture("one-down")

	h.startBlank(2)
	b.has(third+".state", "quarantined")
	b.has(third, "it has lost its memory")
	b.has(third, "4 min 51 s")
	b.picture("quarantined")

	h.kill(1)
	b.has("#grants", "Grants nothing")
	b.until("the tab's title says so", `document.title.includes("grants nothing")`)
	b.until("its icon does", `document.getElementById("icon").href.startsWith("data:image/svg+xml") && document.getElementById("icon").href.includes("a83800")`)
	b.picture("none")

	h.catchUp(2)
	b.has(third+".state", "voting")
	b.has("#grants", "Grants locks")
	b.has("#events", "is catching-up")
	h.startBlank(1)
	h.catchUp(1)
	b.has("#restart", "May be restarted now")
	b.hasNot(".master .state", "down")
	b.has(third+"details", "3 troubles")
}

func TestALocksLifeIsShownAsItGoesOn(t *testing.T) {
	h, b := newHouse(t, false), newTab(t)
	b.open(h)
	b.has("#no-locks", "Nothing is held.")
	h.acquire("worker-1", "stock:17", time.Hour)
	b.has("#locks tr", "stock:17")
	b.has("#locks tr", "worker-1")
	b.has("#locks tr", "59 min")
	b.until("each master's vote has a shape and a word", `(v => v.getAttribute("aria-label") === "10.0.0.1:6379 granted, 10.0.0.2:6379 granted, 10.0.0.3:6379 granted" &&
		[...v.querySelectorAll("use")].every(u => u.getAttribute("href") === "#i-granted"))(document.querySelector("#locks .votes"))`)

	b.click("#locks button.key", "stock:17")
	b.has("#one-state", "held by worker-1 (10.0.3.9:52110)")
	b.has("#timeline li", "granted")
	b.has("#parts li", "granted")
	b.has("#one-facts", "redis-py 5.0.1")
	b.until("the address says what is open", `location.hash === "#db=0&key=stock%3A17"`)

	h.sitsBy("worker-2", "stock:17", 5)
	b.has("#timeline li", "refused × 5")
	b.has("#timeline li", "by worker-2; refused by all 3")
	b.has("#contended", "stock:17")
	b.until("the last second has refusals", `[...document.querySelectorAll("#contended .strip path")].some(p => p.getAttribute("d").includes("M236.4 26"))`)
	h.extend("stock:17", 2*time.Hour)
	b.has("#timeline li", "extended")
	b.has("#one-left", "1 h 59 min")
	h.kill(2)
	b.has("#parts li", "unknown")
	h.sitsBy("worker-4", "stock:17", 1)
	b.has("#timeline li", "by worker-4; refused by 10.0.0.1:6379, 10.0.0.2:6379; withheld by 10.0.0.3:6379")
	b.picture("lock")

	h.forget("stock:17")
	b.has("#one-state", "held, by whom is not known here")
	h.acquire("worker-1", "stock:17", time.Hour)
	b.has("#one-state", "held by worker-1")
	h.release("stock:17")
	b.has("#one-state", "free")
	b.has("#timeline li", "released")
	b.has("#no-locks", "Nothing is held.")

	h.acquire("worker-3", "short", time.Hour)
	b.has("#locks tr", "short")
	h.extend("short", time.Second)
	b.has("#no-locks", "Nothing is held.") // when it has run out
}

func TestALostConnectionIsSaidAndWhatIsOldIsGrey(t *testing.T) {
	h, b := newHouse(t, true), newTab(t)
	h.acquire("worker-1", "stock:17", time.Hour)
	b.open(h)
	b.has("#locks tr", "stock:17")
	h.cut()
	b.has("#lost", "The connection is lost. Trying again")
	b.has("#lost", "What you see is from")
	b.until("it is grey", `getComputedStyle(document.querySelector("main")).filter === "grayscale(1)"`)
	b.until("no order can be given", `[...document.querySelectorAll(".orders button")].every(b => b.disabled)`)
	b.has("#link", "not live")
	b.picture("lost")
	h.kill(0)
	h.restore()
	b.until("it is live again", `!document.querySelector("#lost").checkVisibility() && document.getElementById("link").textContent.trim() === "live"`)
	b.has(fmt.Sprintf(card, 1)+".state", "down")
	b.has("#events", "is down")
	b.until("it is not grey", `getComputedStyle(document.querySelector("main")).filter === "none"`)
	b.until("orders can be given", `[...document.querySelectorAll(".orders button")].every(b => !b.disabled)`)
}

// So many may have a stream. Who comes then sees all the same how things stand.
func TestWhoGetsNoStreamIsToldAndAsksInstead(t *testing.T) {
	h, b := newHouse(t, false), newTab(t)
	ctx, leave := context.WithCancel(t.Context())
	for range 16 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.address()+"api/stream", nil)
		must(t, err)
		answer, err := http.DefaultTransport.RoundTrip(r)
		must(t, err)
		defer answer.Body.Close()
	}
	b.do(chromedp.Navigate(h.address()))
	b.has("#link", "there is no stream to be had")
	b.has("#grants", "Grants locks")
	h.kill(0)
	b.has(fmt.Sprintf(card, 1)+".state", "down")
	b.has("#events", "is down")
	leave()
	b.until("it has a stream", `document.getElementById("link").textContent.trim() === "live"`)
}

// Who has it read to him hears of the verdict when it is another one, and not each second.
func TestTheVerdictIsReadOutWhenItChangesAlone(t *testing.T) {
	h, b := newHouse(t, false), newTab(t)
	b.open(h)
	b.has("#grants", "Grants locks")
	b.run(`window.changes = {grants: 0, figures: 0};
		for (const id of Object.keys(changes)) new MutationObserver(() => changes[id]++).observe(document.getElementById(id), {subtree: true, childList: true, characterData: true, attributes: true})`)
	b.until("three overviews have come", "changes.figures >= 3")
	if n := value[int](b, "changes.grants"); n != 0 {
		t.Errorf("the verdict was written %d times while it was the same", n)
	}
	h.kill(0)
	b.until("it is written", "changes.grants > 0")
	if role := value[string](b, `document.getElementById("grants").getAttribute("role")`); role != "status" {
		t.Errorf("its role is %q", role)
	}
}
