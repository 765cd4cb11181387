package browser

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var pictures = flag.String("pictures", "", "the directory that pictures of the page are put into")

// hangs is for how long a test waits for what should come in a second or two.
const hangs = time.Minute

// chromium is the one that all tests have tabs in.
var chromium struct {
	sync.Once
	ctx   context.Context
	close context.CancelFunc
	err   error
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if chromium.close != nil {
		chromium.close()
	}
	os.RemoveAll(program.dir)
	os.Exit(code)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func startChromium() {
	program, err := exec.LookPath("chromium")
	if err != nil {
		chromium.err = fmt.Errorf("%w: it is Debian's package chromium", err)
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.Flag("no-proxy-server", true),
		chromedp.WSURLReadTimeout(hangs))
	if os.Getuid() == 0 { // whom it gives no sandbox
		options = append(options, chromedp.NoSandbox)
	}
	allocated, closeAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocated)
	chromium.ctx, chromium.close = ctx, func() { cancel(); closeAll() }
	chromium.err = chromedp.Do(ctx)
}

// tab is a page that is looked at.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex // guards what follows
	complaints []string   // of the browser: exceptions, and what the policy has kept from running
}

// newTab has nobody's history or storage. Its test fails if the browser complains of what is in it.
func newTab(t *testing.T) *tab {
	t.Helper()
	chromium.Do(startChromium)
	must(t, chromium.err)
	b := &tab{t: t}
	ctx, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.hear))
	t.Cleanup(cancel)
	b.ctx = ctx
	must(t, chromedp.Do(ctx)) // which starts it, and of which a time-out would end it
	_, err := chromedp.Call(ctx, cdplog.Enable, cdp.Empty{})
	must(t, err)
	b.size(1280, 900)
	t.Cleanup(func() {
		for _, complaint := range b.heard() {
			t.Errorf("the browser complains: %s", complaint)
		}
		if t.Failed() && *pictures != "" {
			b.picture("failed-" + t.Name())
		}
	})
	return b
}

func (b *tab) hear(event any) {
	complaint := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		complaint = (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error()
	case *runtime.EventConsoleAPICalled:
		complaint = fmt.Sprintf("the page has written to the console: %s", e.Type)
	case *page.EventJavascriptDialogOpening:
		complaint = "a dialog: " + e.Message
	case *cdplog.EventEntryAdded:
		// That an address is not there or answers with an error is what some tests are about.
		if e.Entry.Source != cdplog.EntrySourceNetwork {
			complaint = fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text)
		}
	}
	if complaint != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.complaints = append(b.complaints, complaint)
	}
}

// heard takes what the browser has complained of.
func (b *tab) heard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.complaints
	b.complaints = nil
	return list
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, hangs)
	defer cancel()
	must(b.t, chromedp.Do(ctx, actions...))
}

// run has the page carry something out.
func (b *tab) run(script string) {
	b.t.Helper()
	value[bool](b, "(() => { "+script+"; return true })()")
}

func (b *tab) size(width, height int64) {
	options := []chromedp.EmulateViewportOption{}
	if width < 600 {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	b.do(chromedp.EmulateViewport(width, height, options...))
}

func (b *tab) dark(yes bool) {
	scheme := "light"
	if yes {
		scheme = "dark"
	}
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	must(b.t, err)
}

func (b *tab) open(h interface{ address() string }) {
	b.t.Helper()
	b.do(chromedp.Navigate(h.address()))
	b.until("it is live", `document.getElementById("link").textContent.trim() === "live" && document.querySelectorAll(".master").length === 3`)
}

// goes to an address, whatever is there.
func (b *tab) goes(to string) {
	ctx, cancel := context.WithTimeout(b.ctx, hangs)
	defer cancel()
	chromedp.Do(ctx, chromedp.Navigate(to)) // an answer with an error is one
}

// value of an expression.
func value[T any](b *tab, expression string) (v T) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, hangs)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	must(b.t, err)
	return v
}

// until an expression is true.
func (b *tab) until(what, expression string) {
	b.t.Helper()
	for end := time.Now().Add(hangs); ; time.Sleep(50 * time.Millisecond) {
		if value[bool](b, "!!("+expression+")") {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("it does not come to this: %s\n%s", what, value[string](b, "document.body.innerText"))
		}
	}
}

// has waits until what a selector finds is seen and has a text.
func (b *tab) has(selector, text string) {
	b.t.Helper()
	b.until(selector+" has "+text, fmt.Sprintf(`[...document.querySelectorAll(%s)].some(e => e.checkVisibility() && e.textContent.includes(%s))`, quoted(selector), quoted(text)))
}

// hasNot waits until nothing that can be seen has it.
func (b *tab) hasNot(selector, text string) {
	b.t.Helper()
	b.until(selector+" has no "+text, fmt.Sprintf(`![...document.querySelectorAll(%s)].some(e => e.checkVisibility() && e.textContent.includes(%s))`, quoted(selector), quoted(text)))
}

// click presses what has a text, among what a selector finds.
func (b *tab) click(selector, text string) {
	b.t.Helper()
	b.has(selector, text)
	b.run(fmt.Sprintf(`[...document.querySelectorAll(%s)].find(e => e.checkVisibility() && e.textContent.includes(%s)).click()`, quoted(selector), quoted(text)))
}

// press a key of the keyboard.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(strings.Join(keys, "")))
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// picture keeps how it looks, if somebody wants to see it.
func (b *tab) picture(name string) {
	b.t.Helper()
	if *pictures == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	must(b.t, err)
	must(b.t, os.MkdirAll(*pictures, 0o755))
	must(b.t, os.WriteFile(filepath.Join(*pictures, name+".png"), png, 0o644))
}
