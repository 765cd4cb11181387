package page

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

func TestThePageLoadsNothingAndItsPolicyAllowsNothingElse(t *testing.T) {
	h := newHandler(t, &fakeSource{})
	w := asks(h, "GET", "/", "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" || w.Body.Len() < 1000 {
		t.Fatalf("got %d, %v, %d bytes", w.Code, w.Header(), w.Body.Len())
	}
	policy := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "connect-src 'self'", "frame-ancestors 'none'",
		"base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy has no %s: %s", want, policy)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
	// Neither attributes that are scripts or styles, which the policy would keep from working, nor
	// addresses of others, nor what makes elements of text.
	for _, not := range []string{`\son\w+="`, `style="`, `\ssrc=`, `innerHTML`, `outerHTML`, `insertAdjacentHTML`, `document\.write`, `\beval\b`, `@import`, `url\(`} {
		if found := regexp.MustCompile(not).FindString(w.Body.String()); found != "" {
			t.Errorf("the page has %q", found)
		}
	}
	for _, address := range regexp.MustCompile(`https?://[^"' )]+`).FindAllString(w.Body.String(), -1) {
		if address != "http://www.w3.org/2000/svg" {
			t.Errorf("the page names %s", address)
		}
	}
}

func TestWhatIsNotThereOrNotMeantIsRefusedInJSON(t *testing.T) {
	h := newHandler(t, &fakeSource{allowed: true})
	for _, path := range []string{"/index.html", "/api", "/api/", "/api/lockss", "/api/locks/", "//", "/../etc/passwd"} {
		r := httptest.NewRequest("GET", "/", nil)
		r.URL.Path = path
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		wantRefused(t, w, 404, "nothing at this address")
	}
	for path, to := range routes {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "OPTIONS", "BREW"} {
			if method == to.method {
				continue
			}
			w := asks(h, method, path, "")
			wantRefused(t, w, 405, to.method)
			if w.Header().Get("Allow") != to.method {
				t.Errorf("%s %s: Allow is %q", method, path, w.Header().Get("Allow"))
			}
		}
	}
	wantRefused(t, asks(h, "HEAD", "/api/stream", ""), 405, "GET")
	if w := asks(h, "HEAD", "/", ""); w.Code != 200 {
		t.Errorf("HEAD / is answered with %d", w.Code)
	}
	for target, words := range map[string]string{
		"/?x=1":                           "no parameters",
		"/api/locks?count=0":              "from 1 to 500",
		"/api/locks?count=501":            "from 1 to 500",
		"/api/locks?count=many":           "from 1 to 500",
		"/api/locks?count=5&count=6":      "twice",
		"/api/locks?db=-2":                "parameter db",
		"/api/locks?patern=x":             `"patern"`,
		"/api/locks?a;b":                  "parameters",
		"/api/locks?pattern=%zz":          "parameters",
		"/api/lock":                       "key is missing",
		"/api/lock?key=a%5C":              "backslash",
		"/api/lock?key=a%5Cx4":            "backslash",
		"/api/lock?key=a%5Cn":             "backslash",
		"/api/lock?db=one&key=a":          "parameter db",
		"/api/events?after=-1":            "after",
		"/api/events?before=1":            `"before"`,
		"/api/stream?x":                   `"x"`,
		"/api/locks?pattern=" + longKey(): "too long",
		"/api/lock?key=" + longKey():      "4096 bytes",
	} {
		wantRefused(t, asks(h, "GET", target, ""), 400, words)
	}
}

func longKey() string { return strings.Repeat("k", maxParameter+1) }

func TestAnOverviewIsMadeOnceASecondHoweverManyLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeSource{}
		h := newHandler(t, s)
		for range 5 {
			for range 100 {
				fieldsOf(t, asks(h, "GET", "/api/overview", ""))
			}
			time.Sleep(time.Second)
		}
		if made := s.made(); made != 5 {
			t.Errorf("%d overviews were made in five seconds", made)
		}
	})
}

func TestListsAreListsAlsoIfNothingIsOnThem(t *testing.T) {
	h := newHandler(t, &fakeSource{overview: Overview{Masters: []Master{{Name: "a"}}}})
	o := fieldsOf(t, asks(h, "GET", "/api/overview", ""))
	for _, name := range []string{"proxies", "masters", "contended", "latency", "events"} {
		if _, is := o[name].([]any); !is {
			t.Errorf("%s is %v", name, o[name])
		}
	}
	if _, is := o["masters"].([]any)[0].(map[string]any)["troubles"].([]any); !is {
		t.Errorf("a master's troubles are no list: %v", o["masters"])
	}
	if l := fieldsOf(t, asks(h, "GET", "/api/locks", "")); fmt.Sprint(l["locks"]) != "[]" {
		t.Errorf("locks are %v", l)
	}
	if l := fieldsOf(t, asks(h, "GET", "/api/lock?key=a", "")); fmt.Sprint(l["votes"]) != "[]" {
		t.Errorf("a lock's votes are %v", l)
	}
	if l := fieldsOf(t, asks(h, "GET", "/api/events", "")); fmt.Sprint(l["events"]) != "[]" {
		t.Errorf("events are %v", l)
	}
}

func TestAMasterIsShownAsTheEngineTellsOfIt(t *testing.T) {
	since := time.Date(2026, 3, 1, 3, 4, 5, 678_900_000, time.FixedZone("", 3600))
	m := quorum.MasterStatus{Name: "a:1", State: quorum.CatchingUp, Since: since, Reason: "its memory\nis lost", Left: 90 * time.Second, CatchUp: quorum.CatchUp{Copied: 7, Sources: 1, Needed: 2},
		ClockKnown: true, ClockOffset: -1500 * time.Microsecond, RoundTrip: 210 * time.Microsecond, Version: "7.0", Granted: 1, Refused: 2, Unknown: 3, Withheld: 4, Unasked: 5,
		Queue: 6, InBatch: 7, Debts: 8, Elsewhere: []quorum.MasterStatus{{DB: 3, State: quorum.Down, Reason: "gone"}}}
	h := newHandler(t, &fakeSource{overview: Overview{Masters: []Master{MasterOf(&m)}}})
	body := asks(h, "GET", "/api/overview", "").Body.String()
	for _, want := range []string{`"name":"a:1","state":"catching-up","since":"2026-03-01T02:04:05.678Z","why":"its memory\\x0ais lost","leftMs":90000,"roundTripUs":210`,
		`"clockKnown":true,"clockOffsetMs":-1.5,"queue":6,"inBatch":7,"debts":8`, `"granted":1,"refused":2,"unknown":3,"withheld":4,"unasked":5`,
		`"catchUp":{"copied":7,"sources":1,"needed":2}`, `"elsewhere":[{"db":3,"state":"down","why":"gone"}]`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

func TestLocksAreAskedForAsTheAddressSays(t *testing.T) {
	s := &fakeSource{locks: Locks{Total: 3, Next: "n", Locks: []Lock{{Key: "a"}, {Key: Text(strings.Repeat("\xff", MaxKey+1)), Timeline: []Moment{{}}}, {Key: "c"}}}}
	h := newHandler(t, s)
	l := fieldsOf(t, asks(h, "GET", `/api/locks?pattern=a%5Cxff*%5C*%5C%5C&db=4&after=x&count=2`, ""))
	if want := (Query{Pattern: "a\\\xff*\\*\\\\", DB: 4, After: "x", Count: 2}); s.query != want {
		t.Errorf("got %+v, want %+v", s.query, want)
	}
	listed := l["locks"].([]any)
	if len(listed) != 3 || l["next"] != "n" || l["total"] != 3.0 {
		t.Fatalf("got %v", l)
	}
	if second := listed[1].(map[string]any); second["key"] != strings.Repeat(`\xff`, MaxKey) || second["keyBytes"] != MaxKey+1.0 || second["timeline"] != nil {
		t.Errorf("got %v", second)
	}
	fieldsOf(t, asks(h, "GET", "/api/locks", ""))
	if want := (Query{DB: AllDBs, Count: usualLocks}); s.query != want {
		t.Errorf("got %v, want %v", s.query, want)
	}
}

func TestALockIsShownWithWhatBecameOfIt(t *testing.T) {
	at := time.Date(2026, 3, 1, 3, 4, 5, 0, time.UTC)
	s := &fakeSource{lock: Lock{DB: 2, Key: "\x00<b>\\", Type: "string", State: Held, Votes: []Vote{Granted, VoteUnknown}, Left: Millis(1500 * time.Millisecond), Since: Time(at),
		Timeline: []Moment{{At: Time(at), What: WasRefused, By: "\u202egnp.exe", Took: Micros(time.Millisecond), Votes: []Vote{Refused, Withheld}, Reason: "held", Count: 3}}}}
	h := newHandler(t, s)
	w := asks(h, "GET", `/api/lock?db=2&key=%5Cx00%3Cb%3E%5C%5C`, "")
	if fieldsOf(t, w); s.db != 2 || s.key != "\x00<b>\\" {
		t.Errorf("asked for %q in %d", s.key, s.db)
	}
	want := `{"db":2,"key":"\\x00\u003cb\u003e\\\\","type":"string","state":"held","since":"2026-03-01T03:04:05.000Z","until":null,"leftMs":1500,` +
		`"votes":["granted","unknown"],"extensions":0,"refusals":0,"waiters":0,"timeline":[{"at":"2026-03-01T03:04:05.000Z","what":"refused","by":"\\xe2\\x80\\xaegnp.exe","tookUs":1000,` +
		`"votes":["refused","withheld"],"reason":"held","count":3}]}` + "\n"
	if w.Body.String() != want {
		t.Errorf("got  %s\nwant %s", w.Body, want)
	}
}

func TestWhatASourceSaysHasAStatus(t *testing.T) {
	s := &fakeSource{}
	h := newHandler(t, s)
	for err, status := range map[error]int{
		ErrNotThere: 404, ErrNotNow: 409, ErrNotAllowed: 403, ErrBadAsking: 400, ErrNoQuorum: 503, errors.New("broken"): 500,
	} {
		s.err = fmt.Errorf("a lock\r\nof\tnobody: %w", err)
		wantRefused(t, asks(h, "GET", "/api/lock?key=a", ""), status, "a lock of nobody: "+err.Error())
		wantRefused(t, asks(h, "GET", "/api/locks", ""), status, err.Error())
	}
}

func TestMastersAreAskedForAFewViewersAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeSource{hold: make(chan struct{})}
		h := newHandler(t, s)
		answers := make(chan *httptest.ResponseRecorder, 3*maxQuestions)
		for range cap(answers) {
			go func() { answers <- asks(h, "GET", "/api/locks", "") }()
		}
		synctest.Wait()
		s.mu.Lock()
		waiting := s.waiting
		s.mu.Unlock()
		if waiting != maxQuestions {
			t.Errorf("%d are asked at once, want %d", waiting, maxQuestions)
		}
		statuses := map[int]int{}
		for range cap(answers) {
			statuses[(<-answers).Code]++
		}
		// Whose turn it was has waited in vain. The others' turn comes as theirs is over.
		if statuses[http.StatusGatewayTimeout] < maxQuestions || statuses[http.StatusOK] != 0 {
			t.Errorf("the answers are %v", statuses)
		}
		close(s.hold)
		if w := asks(h, "GET", "/api/locks", ""); w.Code != http.StatusOK {
			t.Errorf("when it is over, the answer is %d", w.Code)
		}
	})
}

func TestEventsAreToldFromANumberOn(t *testing.T) {
	s := &fakeSource{}
	h := newHandler(t, s)
	for i := range latestEvents + 5 {
		s.happens(fmt.Sprint("event ", i+1))
	}
	if l := fieldsOf(t, asks(h, "GET", "/api/events?after=23", ""))["events"].([]any); len(l) != 2 || l[0].(map[string]any)["text"] != "event 24" {
		t.Errorf("got %v", l)
	}
	for i, first := range []float64{6, 7} {
		h.frames.made = time.Time{} // it is an old one
		if l := fieldsOf(t, asks(h, "GET", "/api/overview", ""))["events"].([]any); len(l) != latestEvents || l[0].(map[string]any)["number"] != first {
			t.Errorf("overview %d has %v", i, l)
		}
		s.happens("another")
	}
}

func TestAnswersAreKeptNowhere(t *testing.T) {
	h := newHandler(t, &fakeSource{})
	for _, path := range []string{"/", "/api/overview", "/nothing"} {
		w := asks(h, "GET", path, "")
		if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, w.Header())
		}
		if _, err := io.ReadAll(w.Result().Body); err != nil {
			t.Error(err)
		}
	}
}
