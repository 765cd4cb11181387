package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// hostile are keys that would do something where they are taken for more than a text.
var hostile = []string{
	`<img src=x onerror="window.hit=1">`,
	`"><script>window.hit=1</script>`,
	`</script><script>window.hit=1</script>`,
	`</title><svg onload=window.hit=1>`,
	`javascript:window.hit=1`,
	"${window.hit=1}{{constructor.constructor('window.hit=1')()}}",
	`' onmouseover='window.hit=1`,
	"__proto__", "constructor",
	"\u202egnp.exe\u202c", "\x00\x1b]0;x\x07", "\xff\xfe\x80", "a\u2028b\nevent: overview\ndata: {}\n\n",
	"#db=0&key=x", "../../api/order", "%00%0a", `\x41\\`,
	strings.Repeat("long", 900), strings.Repeat("\xf0\x9f\x94\x92", 300), "مفتاح", " ", "",
}

func TestHostileKeysRunNothing(t *testing.T) {
	h, b := newHouse(t, true), newTab(t)
	for _, key := range hostile {
		h.acquire(key, key, time.Hour)
		h.sitsBy(key, key, 3)
	}
	b.open(h)
	b.until("all are listed", fmt.Sprintf(`document.querySelectorAll("#locks tr").length === %d`, len(hostile)))
	b.has("#locks tr", `<img src=x onerror="window.hit=1">`)
	b.has("#locks tr", `\x00\x1b]0;x\x07`)
	b.has("#locks tr", `\xe2\x80\xaegnp.exe\xe2\x80\xac`)
	b.has("#locks tr", `\xff\xfe\x80`)
	b.has("#locks tr", `\\x41\\\\`)
	b.until("a long one is cut, and whole in its title", `[...document.querySelectorAll("#locks .key")].some(e => e.title === "long".repeat(900) && e.textContent.length < 80)`)
	// Each is opened, asked to be freed, and left alone.
	for i := range hostile {
		key := value[string](b, fmt.Sprintf(`document.querySelectorAll("#locks .key")[%d].title`, i))
		b.run(fmt.Sprintf(`document.querySelectorAll("#locks .key")[%d].click()`, i))
		b.until("it is opened", fmt.Sprintf(`document.getElementById("one-key").title === %s && document.getElementById("one-state").checkVisibility() &&
			document.querySelector("#timeline").textContent.includes("refused")`, quoted(key)))
		b.click("#free", "Free")
		b.has("#ask-what", key)
		b.has("#ask-head", "Free")
		b.click("#cancel", "Cancel")
		b.click("#close", "Close")
	}
	if got := value[string](b, `String(window.hit) + " " + String(({}).state) + " " + document.querySelectorAll("img, iframe, object, embed, script:not(:last-of-type), form:not(#find-form):not(dialog form)").length`); got != "undefined undefined 0" {
		t.Errorf("a key has done something: %s", got)
	}
	b.picture("hostile")
	b.do(chromedp.Reload())
	b.has("#locks tr", `</title>`)
}

// What the policy is for: also where the page were wrong, nothing would run.
func TestThePolicyKeepsFromRunningWhatGetsIntoThePage(t *testing.T) {
	h, b := newHouse(t, false), newTab(t)
	b.open(h)
	if got := value[string](b, `(() => { try { document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.hit=1'>"); return "put in" } catch (e) { return e.name } })()`); got != "TypeError" {
		t.Errorf("text becomes elements: %s", got)
	}
	b.run(`(() => { const e = document.createElement("img"); e.src = "nowhere"; e.setAttribute("alt", "x"); document.body.append(e) })()`)
	complaints := ""
	for end := time.Now().Add(hangs); !strings.Contains(complaints, "img-src") && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		complaints += strings.Join(b.heard(), "\n")
	}
	if !strings.Contains(complaints, "img-src") {
		t.Errorf("a picture is loaded; the browser says %s", complaints)
	}
	if hit := value[string](b, "String(window.hit)"); hit != "undefined" {
		t.Error("it has run")
	}
}

func TestOrdersAreGivenWithAReasonAndAYes(t *testing.T) {
	h, b := newHouse(t, true), newTab(t)
	h.acquire("worker-1", "stock:17", time.Hour)
	b.open(h)
	b.click("#locks button.key", "stock:17")
	b.click("#free", "Free this lock")
	b.has("#ask", "may be at work")
	b.click("#do", "Free the lock")
	b.until("it is not sent without a reason", `document.getElementById("ask").open && document.activeElement.id === "reason"`)
	b.press("its client is stuck")
	b.click("#do", "Free the lock")
	b.until("nor without a yes", `document.getElementById("ask").open && document.activeElement.id === "sure"`)
	b.picture("free")
	if given := h.orders(); given != nil {
		t.Fatalf("orders were given: %v", given)
	}
	b.press(" ")
	b.press(kb.Enter)
	b.has("#said", "The lock is freed")
	b.has("#one-state", "free")
	b.has("#timeline", "forced")
	b.has("#timeline", "its client is stuck")
	b.until("there is nothing to free any more", `!document.getElementById("free").checkVisibility()`)
	b.press(kb.Escape)
	second := fmt.Sprintf(card, 2)
	order := func(word, reason string) {
		t.Helper()
		b.click(second+".orders button", word)
		b.press(reason)
	}
	h.kill(0)
	b.has("#restart", "Do not")
	order("Drain", "a new disk")
	b.click("#do", "Drain the master")
	b.has("#ask-why", "too few masters would be left")
	b.click("#force-label", "also if too few")
	b.click("#do", "Drain the master")
	b.has(second+".state", "drained")
	order("Resume", "it is in")
	b.click("#do", "Resume the master")
	b.has(second+".state", "voting")
	h.startBlank(1)
	order("Admit", "nobody holds a lock")
	b.click("#sure-label", "two holders")
	b.click("#do", "Admit the master")
	b.has(second+".state", "voting")
	given := strings.Join(h.orders(), "\n")
	for _, want := range []string{"free stock:17 ", ": its client is stuck", "drain 10.0.0.2:6379 : a new disk", "resume 10.0.0.2:6379 : it is in", "admit 10.0.0.2:6379 : nobody holds a lock"} {
		if !strings.Contains(given, want) {
			t.Errorf("no %q in %s", want, given)
		}
	}
}

func TestWithoutLeaveThereAreNoOrders(t *testing.T) {
	h, b := newHouse(t, false), newTab(t)
	h.acquire("worker-1", "stock:17", time.Hour)
	b.open(h)
	b.click("#locks button.key", "stock:17")
	b.has("#one-state", "held")
	b.until("nothing can be ordered", `![...document.querySelectorAll(".orders, #free")].some(e => e.checkVisibility())`)
}

func TestLocksAreFoundAndLeafedThrough(t *testing.T) {
	h, b := newHouse(t, false), newTab(t)
	for i := range 120 {
		h.acquire("worker", fmt.Sprintf("a/%03d", i), time.Hour)
	}
	h.acquire("worker", "b[1]\xff", time.Hour)
	b.open(h)
	b.has("#which", "1 to 50 of 121")
	b.click("#further", "Further")
	b.has("#which", "51 to 100 of 121")
	b.has("#locks tr", "a/050")
	b.click("#further", "Further")
	b.has("#locks tr", `b[1]\xff`)
	b.until("there is no more", `document.getElementById("further").disabled`)
	b.click("#back", "Back")
	b.has("#which", "51 to 100 of 121")

	find := func(text string) {
		b.run(`document.getElementById("find").value = ""; document.getElementById("find").focus()`)
		b.press(text)
	}
	find("/11") // anywhere
	b.has("#which", "1 to 10 of 10")
	find("a/0?9")
	b.has("#which", "1 to 10 of 10")
	b.has("#locks tr", "a/099")
	find(`*\xff`)
	b.has("#which", "1 to 1 of 1")
	b.has("#locks tr", `b[1]\xff`)
	find("[")
	b.has("#locks-why", "is no pattern")
	find("nothing-like-it")
	b.has("#no-locks", "No lock has such a key.")
	b.until("the address says what is looked for", `location.hash === "#find=nothing-like-it"`)
}

func TestTheAddressKeepsWhichLockIsOpen(t *testing.T) {
	h, b := newHouse(t, false), newTab(t)
	h.acquire("worker-1", "stock:17", time.Hour)
	h.acquire("worker-2", "\xff&key=?#\\", time.Hour)
	b.open(h)
	b.click("#locks button.key", `\xff`)
	b.has("#one-state", "worker-2")
	b.do(chromedp.Reload())
	b.has("#one-state", "worker-2")
	b.click("#locks button.key", "stock:17")
	b.has("#one-state", "worker-1")
	b.run("history.back()")
	b.has("#one-state", "worker-2")
	b.run("history.back()")
	b.until("it is closed", `!document.getElementById("one").checkVisibility()`)
	b.run(`location.hash = "#db=0&key=nobody"`)
	b.has("#one-why", "It is not held")
}

func TestItCanBeUsedWithoutAMouse(t *testing.T) {
	h, b := newHouse(t, true), newTab(t)
	h.acquire("worker-1", "stock:17", time.Hour)
	b.open(h)
	b.has("#locks tr", "stock:17")
	tabTo := func(what, expression string) {
		t.Helper()
		for range 60 {
			b.press(kb.Tab)
			if value[bool](b, expression) {
				if outline := value[string](b, "getComputedStyle(document.activeElement).outlineStyle"); outline != "solid" {
					t.Errorf("where one is, %s, is not shown: %s", what, outline)
				}
				return
			}
		}
		t.Fatalf("no way leads to %s", what)
	}
	tabTo("a master's orders", `document.activeElement.getAttribute("aria-label") === "Drain 10.0.0.1:6379"`)
	tabTo("the lock", `document.activeElement.closest("#locks") !== null`)
	b.press(kb.Enter)
	b.has("#one-state", "held by worker-1")
	b.until("one is there", `document.activeElement.id === "one-key"`)
	tabTo("its end", `document.activeElement.id === "close"`)
	tabTo("its order", `document.activeElement.id === "free"`)
	b.press(kb.Enter)
	b.until("one is asked", `document.getElementById("ask").open && document.activeElement.id === "reason"`)
	b.press(kb.Escape)
	b.until("one is not", `!document.getElementById("ask").open && document.activeElement.id === "free"`)
	b.press(kb.Escape)
	b.until("one is where one was", `!document.getElementById("one").checkVisibility() && document.activeElement.closest("#locks") !== null`)
	if names := value[string](b, `[...document.querySelectorAll("button, input, [role=img]")].filter(e => e.checkVisibility() && !(e.textContent.trim() || e.getAttribute("aria-label") || e.closest("label"))).map(e => e.outerHTML).join()`); names != "" {
		t.Errorf("these have no name: %s", names)
	}
}
