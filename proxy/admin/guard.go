package admin

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"redlock-proxy/proxy"
)

// guard is what all requests go through, whatever they ask for.
type guard struct {
	Config
	source Source
	next   http.Handler
}

func newGuard(cfg Config, source Source, next http.Handler) *guard {
	return &guard{Config: cfg, source: source, next: next}
}

// headers keep what is shown from being used by other pages: it comes from here, runs what
// comes from here, and is framed by nobody.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "no-store",
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	if !g.ourName(r.Host) {
		http.Error(w, "this host is not ours: ask by an IP address, as localhost, or by a name of admin-host", http.StatusMisdirectedRequest)
		return
	}
	if foreign(r) && !free(r) {
		g.forbidden(r)
		http.Error(w, "another site's page asks for it, which nobody here has sent", http.StatusForbidden)
		return
	}
	if changes(r) && !sameOrigin(r) {
		g.forbidden(r)
		http.Error(w, "what changes something is asked for by a page of this very origin alone: Origin must be "+origin(r), http.StatusForbidden)
		return
	}
	who, wrong := g.knows(r)
	if wrong {
		g.deny(r)
	}
	if wrong || who == "" && !free(r) {
		w.Header().Set("WWW-Authenticate", `Basic realm="redlock-proxy", charset="UTF-8"`)
		http.Error(w, "a user and his password are asked for, as of clients; requirepass is that of the user default", http.StatusUnauthorized)
		return
	}
	if !free(r) && !g.source.Looks(who) {
		g.source.Forbidden(proxy.Operator{User: who, From: r.RemoteAddr}, "no right to it")
		http.Error(w, "this user may not look into all locks: that takes the right to LOCK LIST on all keys", http.StatusForbidden)
		return
	}
	ctx := context.WithValue(r.Context(), accessKey{}, access{user: who, orders: who != "" && g.source.Operates(who)})
	holding(g.next, w, r.WithContext(ctx))
}

// forbidden tells of what would have changed something.
func (g *guard) forbidden(r *http.Request) {
	if changes(r) {
		g.source.Forbidden(proxy.Operator{From: r.RemoteAddr}, "another site's page asks")
	}
}

// access is what the guard has found out of who asks.
type access struct {
	user   string // "" if he has not shown that he is one
	orders bool
}

type accessKey struct{}

func accessOf(r *http.Request) access {
	a, _ := r.Context().Value(accessKey{}).(access)
	return a
}

// OrdersAllowed tells a handler whether who asks may give orders about masters: as among
// clients, that needs the right to @operate.
func OrdersAllowed(r *http.Request) bool { return accessOf(r).orders }

// UserOf is the user that asks, as he has shown to be.
func UserOf(r *http.Request) string { return accessOf(r).user }

// free tells that everybody is told.
func free(r *http.Request) bool { return r.URL.Path == "/livez" || r.URL.Path == "/readyz" }

// ourName tells that a request was meant for us. A page can have its own name lead to our
// address, and its scripts would be of the same origin as what is here: but then it is by that
// name that we are asked. Old health checks name no host, and browsers always do.
func (g *guard) ourName(host string) bool {
	name := host
	if u, err := url.Parse("//" + host); err == nil {
		name = u.Hostname()
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" || host == "" {
		return true
	}
	for _, ours := range g.Hosts {
		if name == strings.TrimSuffix(strings.ToLower(ours), ".") {
			return true
		}
	}
	return false
}

// foreign tells that a page of another site asks, as a picture of its own say: what that costs the
// masters nobody has asked for. Whoever follows a link to the page is let in.
func foreign(r *http.Request) bool {
	link := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.URL.Path == "/" && !changes(r)
	return r.Header.Get("Sec-Fetch-Site") == "cross-site" && !link
}

func changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

// sameOrigin tells that a page of ours asks, or a program that says so. A browser knows the
// password once it was given to it, and sends it whoever's page asks.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	from, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || from.Host == "" || !strings.EqualFold(from.Host, r.Host) {
		return false
	}
	// Something in front of us may speak TLS for us.
	return from.Scheme == "https" || from.Scheme == "http" && r.TLS == nil
}

func origin(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// knows tells which user asks, "" if that was not shown, and whether he has given a wrong password. A
// certificate is looked at where no password is given.
func (g *guard) knows(r *http.Request) (user string, wrong bool) {
	name, given, ok := r.BasicAuth()
	switch {
	case ok && g.source.Knows(name, given):
		return name, false
	case ok, r.Header.Get("Authorization") != "":
		return "", true
	}
	if user := g.source.Certified(proxy.CertificateNames(r.TLS)); user != "" {
		return user, false
	}
	return g.source.Anybody(), false
}

// deny has the answer to a wrong password wait.
func (g *guard) deny(r *http.Request) {
	var delay time.Duration
	if c := connectionOf(r); c != nil {
		delay = g.source.Denied(c.RemoteAddr(), "admin-listen")
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}
