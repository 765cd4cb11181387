package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// crowded is a house in which everything has something to show, and names are long.
func crowded(t *testing.T) house {
	h := newHouse(t, true)
	for i, key := range append([]string{"stock:17", strings.Repeat("unbroken", 60), "invoices:2026-11:eu-west-1:reconcile:customer-0012345:attempt"}, hostile...) {
		h.acquire("worker-"+strings.Repeat("x", 5*i%90), key, time.Duration(40+i*100)*time.Minute)
		if i%3 == 0 {
			h.sitsBy("another", key, 4+i)
		}
	}
	h.clock(-1830 * time.Millisecond)
	h.kill(1)
	h.kill(2)
	h.startBlank(2)
	return h
}

func TestOnATelephoneNothingHasToBePushedAside(t *testing.T) {
	h, b := crowded(t), newTab(t)
	b.size(360, 740)
	b.open(h)
	b.has("#locks tr", "stock:17")
	fits := func(what string) {
		t.Helper()
		wide := value[string](b, `[...document.querySelectorAll("body *")].filter(e => e.checkVisibility() && !e.closest(".unseen, thead") && e.getBoundingClientRect().right > innerWidth + 1)
			.map(e => e.tagName + "#" + e.id + "." + (e.getAttribute("class") || "")).slice(0, 5).join(", ")`)
		close := value[string](b, `[...document.querySelectorAll(".card *")].filter(e => e.checkVisibility() && !e.closest(".unseen, thead, svg") && e.getBoundingClientRect().right > e.closest(".card").getBoundingClientRect().right - 12)
			.map(e => e.tagName + "#" + e.id + "." + (e.getAttribute("class") || "")).slice(0, 5).join(", ")`)
		inner := value[string](b, `[...document.querySelectorAll("body *")].filter(e => e.checkVisibility() && e.clientWidth > 0 && !e.closest(".unseen, thead, svg, input") && !["hidden", "clip"].includes(getComputedStyle(e).overflowX) &&
			e.scrollWidth > e.clientWidth + 1).map(e => e.tagName + "#" + e.id + "." + e.className).slice(0, 5).join(", ")`)
		if width := value[int](b, "document.documentElement.scrollWidth"); width > 360 || wide+close+inner != "" {
			t.Errorf("%s: it is %d wide; these stand out: %s; these touch the edge: %s; these are pushed: %s", what, width, wide, close, inner)
		}
	}
	fits("the page")
	b.picture("phone")
	for _, section := range []string{"of-locks", "h-fought", "h-events"} {
		b.run(fmt.Sprintf(`document.getElementById(%q).scrollIntoView()`, section))
		b.picture("phone-" + section)
	}
	b.click("#locks button.key", "unbroken")
	b.has("#timeline li", "granted")
	fits("a lock")
	b.until("what is behind it is out of reach", `document.querySelector("main").inert`)
	b.picture("phone-lock")
	b.click("#free", "Free")
	fits("a question")
	b.picture("phone-free")
	b.click("#cancel", "Cancel")
	b.click("#close", "Close")
	b.until("it is in reach again", `!document.querySelector("main").inert`)
	// What is pressed is large enough for a finger.
	if small := value[string](b, `[...document.querySelectorAll("button, input")].filter(e => e.checkVisibility() && e.type !== "checkbox" && e.getBoundingClientRect().height < 24).map(e => e.outerHTML).join()`); small != "" {
		t.Errorf("these are too small: %s", small)
	}
}

// contrast of each text that is seen to what is behind it, of which the least is returned, as in the
// recommendation WCAG 2: 4.5 and more can be read.
const contrast = `(() => {
	const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m };
	const linear = v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
	const light = c => .2126 * linear(c[0]) + .7152 * linear(c[1]) + .0722 * linear(c[2]);
	const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] > .99) return c } return [255, 255, 255, 1] };
	let least = 99, where = "", looked = 0;
	for (const e of document.querySelectorAll("body *")) {
		if (!e.checkVisibility() || e.closest("svg, script, .unseen, :disabled") || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
		const a = light(parse(getComputedStyle(e).color)), b = light(behind(e)), of = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		looked++;
		if (of < least) { least = of; where = e.tagName + "#" + e.id + "." + e.className + ": " + e.textContent.slice(0, 40) }
	}
	return JSON.stringify({least, where, looked, ground: light(parse(getComputedStyle(document.body).backgroundColor))});
})()`

func TestItCanBeReadByDayAndInTheDark(t *testing.T) {
	h, b := crowded(t), newTab(t)
	b.open(h)
	b.has("#locks tr", "stock:17")
	b.click("#locks button.key", "stock:17")
	b.has("#timeline li", "granted")
	for _, dark := range []bool{false, true} {
		b.dark(dark)
		ground := value[float64](b, `JSON.parse(`+contrast+`).ground`)
		if dark && ground > .05 || !dark && ground < .7 {
			t.Errorf("dark %v: the ground's brightness is %.2f", dark, ground)
		}
		for _, none := range []bool{true, false} {
			if none {
				b.has("#grants", "Grants nothing")
			} else {
				h.catchUp(2)
				b.has("#grants", "Grants locks")
			}
			least, where := value[float64](b, `JSON.parse(`+contrast+`).least`), value[string](b, `JSON.parse(`+contrast+`).where`)
			if looked := value[int](b, `JSON.parse(`+contrast+`).looked`); least < 4.5 || looked < 100 {
				t.Errorf("dark %v, nothing granted %v: of %d texts the one read worst has a contrast of %.2f: %s", dark, none, looked, least, where)
			}
			b.picture(fmt.Sprintf("dark-%v-none-%v", dark, none))
		}
		h.kill(2)
		b.has("#grants", "Grants nothing")
	}
}
