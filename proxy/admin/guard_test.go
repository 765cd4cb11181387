package admin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

func TestOnlyStatesAreToldWithoutThePassword(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mounted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "mounted") })
		r := newRigWith(t, func() string { return "secret" }, Config{
			Handlers: map[string]http.Handler{"/": mounted, "POST /api/order": mounted},
		})
		r.source.operates = true
		for _, row := range []struct {
			request       string
			without, with int
		}{
			{"GET /livez", 200, 200},
			{"HEAD /livez", 200, 200},
			{"GET /readyz", 200, 200},
			{"GET /metrics", 401, 200},
			{"GET /debug/pprof/", 401, 200},
			{"GET /debug/pprof/heap", 401, 200},
			{"GET /debug/pprof/cmdline", 401, 404},
			{"GET /", 401, 200},
			{"GET /livez/", 401, 200},
			{"GET //livez", 401, 307},
			{"GET /api/../livez", 401, 307},
			{"GET /nothing", 401, 200}, // what is mounted at / answers
			{"POST /api/order", 401, 200},
		} {
			own := "Origin: http://localhost:6381"
			if a := r.ask(row.request, own); a.code != row.without {
				t.Errorf("%s without the password: %d, want %d", row.request, a.code, row.without)
			} else if a.code == 401 && a.header.Get("WWW-Authenticate") != `Basic realm="redlock-proxy", charset="UTF-8"` {
				t.Errorf("%s: a browser does not ask for the password", row.request)
			}
			if a := r.ask(row.request, own, basic("default", "secret")); a.code != row.with {
				t.Errorf("%s with the password: %d, want %d", row.request, a.code, row.with)
			}
		}
		if r.source.denied != 0 {
			t.Errorf("who gave no password has given %d wrong ones", r.source.denied)
		}
		r.end()
	})
}

func TestWrongPasswordsAreAnsweredLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigWith(t, func() string { return "secret" }, Config{})
		r.source.delay = 300 * time.Millisecond
		for i, wrong := range []string{
			basic("default", "secreT"), basic("default", ""), basic("", "secret"), basic("admin", "secret"),
			"Authorization: Bearer secret", "Authorization: Basic !",
		} {
			for _, path := range []string{"/metrics", "/readyz"} {
				began := time.Now()
				a := r.ask("GET "+path, wrong)
				if took := time.Since(began); a.code != 401 || took != 300*time.Millisecond {
					t.Errorf("%s of %s: %d after %v", wrong, path, a.code, took)
				}
			}
			if want := 2 * (i + 1); r.source.denied != want {
				t.Errorf("%d wrong passwords are counted, want %d", r.source.denied, want)
			}
		}
		began := time.Now()
		if a := r.ask("GET /metrics", basic("default", "secret")); a.code != 200 || time.Since(began) != 0 {
			t.Errorf("who knows it: %d after %v", a.code, time.Since(began))
		}
		r.end()
	})
}

func TestPasswordIsTheOneInEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		password := ""
		r := newRigWith(t, func() string { return password }, Config{})
		for _, row := range []struct {
			now, given string
			code       int
		}{{"", "", 200}, {"", "any", 200}, {"one", "one", 200}, {"two", "one", 401}, {"two", "two", 200}, {"", "two", 200}} {
			password = row.now
			if a := r.ask("GET /metrics", basic("default", row.given)); a.code != row.code {
				t.Errorf("%q where it is %q: %d, want %d", row.given, row.now, a.code, row.code)
			}
		}
		r.end()
	})
}

func TestProxyIsAskedByItsOwnNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Hosts: []string{"Proxy-1.example.org"}})
		for host, code := range map[string]int{
			"localhost": 200, "localhost:6381": 200, "LOCALHOST": 200, "127.0.0.1:6381": 200, "10.1.2.3": 200, "[::1]:6381": 200, "[fe80::1]": 200,
			"proxy-1.example.org": 200, "PROXY-1.example.org.:80": 200, "": 200,
			"evil.example.org": 421, "evil.example.org:6381": 421, "proxy-1.example.org.evil.net": 421, "localhost.evil.net": 421, "127.0.0.1.evil.net": 421,
		} {
			for _, path := range []string{"/livez", "/metrics"} {
				if a := r.ask("GET "+path, "Host: "+host); a.code != code {
					t.Errorf("%s of %q: %d, want %d", path, host, a.code, code)
				}
			}
		}
		r.end()
	})
}

func TestChangesAreAskedForByOwnPagesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := 0
		r := newRig(t, Config{Handlers: map[string]http.Handler{"/api/order": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { done++ })}})
		for _, row := range []struct {
			headers []string
			code    int
		}{
			{[]string{"Origin: http://localhost:6381"}, 200},
			{[]string{"Origin: https://localhost:6381"}, 200}, // TLS ends in front of us
			{[]string{"Origin: http://localhost:6381", "Sec-Fetch-Site: same-origin"}, 200},
			{[]string{"Host: 10.0.0.1", "Origin: http://10.0.0.1"}, 200},
			{nil, 403},
			{[]string{"Origin: null"}, 403},
			{[]string{"Origin: http://localhost"}, 403},
			{[]string{"Origin: http://localhost:6382"}, 403},
			{[]string{"Origin: http://evil.example.org"}, 403},
			{[]string{"Origin: ftp://localhost:6381"}, 403},
			{[]string{"Origin: http://localhost:6381", "Sec-Fetch-Site: cross-site"}, 403},
			{[]string{"Origin: http://localhost:6381", "Sec-Fetch-Site: same-site"}, 403},
			{[]string{"Origin: http://localhost:6381", "Sec-Fetch-Site: none"}, 403},
			{[]string{"Sec-Fetch-Site: same-origin"}, 403},
		} {
			for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "X"} {
				before := done
				a := r.ask(method+" /api/order", append(row.headers, "Content-Length: 0")...)
				if a.code != row.code || (done > before) != (row.code == 200) {
					t.Errorf("%s with %q: %d, done %v; want %d", method, row.headers, a.code, done > before, row.code)
				}
			}
			read := 200
			if slices.Contains(row.headers, "Sec-Fetch-Site: cross-site") {
				read = 403
			}
			if a := r.ask("GET /api/order", row.headers...); a.code != read {
				t.Errorf("GET with %q: %d, want %d", row.headers, a.code, read)
			}
		}
		if n := len(r.source.forbidden); n != 50 { // ten of five methods, and none that only asks
			t.Errorf("%d of 50 are told of", n)
		}
		r.end()
	})
}

func TestNoOtherPageHasUseOfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		password := "secret"
		r := newRigWith(t, func() string { return password }, Config{Handlers: map[string]http.Handler{
			"/page": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Type", "text/html") }),
		}})
		r.source.ready, r.source.status = false, quorum.Status{Quorum: 1}
		for request, code := range map[string]int{
			"GET /livez": 200, "GET /readyz": 503, "GET /metrics": 401, "GET /page": 401,
			"GET /livez as evil": 421, "POST /page": 403, "GET /metrics known": 200, "GET /none known": 404, "GET /page known": 200, "DELETE /metrics known": 403,
		} {
			headers := []string{"X: x"}
			request, known := strings.CutSuffix(request, " known")
			request, evil := strings.CutSuffix(request, " as evil")
			if known {
				headers = append(headers, basic("default", password))
			}
			if evil {
				headers = append(headers, "Host: evil")
			}
			a := r.ask(request, headers...)
			if a.code != code {
				t.Errorf("%s: %d, want %d", request, a.code, code)
			}
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none';", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
				"X-Frame-Options": "DENY", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := a.header.Get(name); !strings.HasPrefix(got, want) {
					t.Errorf("%s: %s is %q, want %q", request, name, got, want)
				}
			}
			if csp := a.header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
				t.Errorf("%s: %s", request, csp)
			}
			if cors := a.header.Get("Access-Control-Allow-Origin"); cors != "" {
				t.Errorf("%s: others may read it: %s", request, cors)
			}
		}
		r.end()
	})
}

func TestOrdersNeedTheRightToThemAndThePassword(t *testing.T) {
	for _, row := range []struct {
		dangerous bool
		password  string
		allowed   bool
	}{{false, "", false}, {true, "", true}, {false, "secret", false}, {true, "secret", true}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRigWith(t, func() string { return row.password }, Config{Handlers: map[string]http.Handler{
				"POST /api/order": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, OrdersAllowed(r)) }),
			}})
			r.source.operates = row.dangerous
			a := r.ask("POST /api/order", "Origin: http://localhost:6381", "Content-Length: 0", basic("default", row.password))
			if a.body != fmt.Sprint(row.allowed) {
				t.Errorf("operates %v, password %q: %s, want %v", row.dangerous, row.password, a.body, row.allowed)
			}
			if a := r.ask("GET /debug/pprof/", basic("default", row.password)); (a.code == 200) != row.dangerous {
				t.Errorf("operates %v: profiles are answered %d", row.dangerous, a.code)
			}
			r.end()
		})
	}
	if OrdersAllowed(&http.Request{}) {
		t.Error("who has not come through the guard may give orders")
	}
}

// TestPagesOfOthersAskForNothing that would cost masters something, be it only to be read.
func TestPagesOfOthersAskForNothing(t *testing.T) {
	for _, c := range []struct {
		path, mode string
		let        bool
	}{
		{"/api/locks", "no-cors", false}, {"/metrics", "no-cors", false}, {"/", "no-cors", false},
		{"/", "navigate", true}, {"/livez", "no-cors", true},
	} {
		passed := false
		g := newGuard(Config{}, &fakeSource{}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true }))
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:6381"+c.path, nil)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", c.mode)
		g.ServeHTTP(httptest.NewRecorder(), r)
		if passed != c.let {
			t.Errorf("%s by %s: let in %v", c.path, c.mode, passed)
		}
	}
}
