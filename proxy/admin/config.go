package admin

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"redlock-proxy/proxy"
	"redlock-proxy/quorum"
)

// Source is what is told of: a *proxy.Server.
type Source interface {
	// Ready: a lock can be had here.
	Ready() bool

	// Draining: it is shutting down.
	Draining() bool

	// Figures and Status are pictures that the caller owns.
	Figures() proxy.Figures
	Status() quorum.Status

	// Knows tells whether a user has this password, Anybody who it is that names nobody, and Certified which of
	// the names in a client's certificate is a user who may come so; "" where that is no user.
	Knows(user, password string) bool
	Anybody() (user string)
	Certified(names []string) (user string)

	// Looks tells whether a user may look into all locks, and Operates whether he may give orders.
	Looks(user string) bool
	Operates(user string) bool

	// Denied counts a wrong password, and says how long its answer has to wait.
	Denied(from net.Addr, door string) time.Duration

	// Forbidden is told of an order that was not looked at, and why.
	Forbidden(who proxy.Operator, why string)
}

// Config is what a Server works with. The caller has checked it.
type Config struct {
	// Hosts are the names by which the server may be asked, besides IP addresses and
	// localhost.
	Hosts []string

	// TLS is what connections are met with as of now; nil: they are not encrypted.
	TLS func() *tls.Config

	// Handlers are further ones, behind the same access rules, by their pattern in an
	// http.ServeMux: "GET /api/status", "/". They may not write for longer than ten seconds
	// unless they set a write deadline of their own, with http.NewResponseController, and
	// have to end when their request's context does.
	Handlers map[string]http.Handler
}

const (
	// MaxConnections is how many may be open at once: a few who scrape, and a few who look.
	MaxConnections = 64

	// headerTimeout is how long a request's head may take to come, and readTimeout all of it.
	headerTimeout = 2 * time.Second
	readTimeout   = 10 * time.Second

	// writeTimeout is how long an answer may take to go, from when the request was there.
	writeTimeout = 10 * time.Second

	// idleTimeout is for how long a connection is kept that asks nothing: two of the
	// intervals at which Prometheus scrapes, if nobody says otherwise.
	idleTimeout = 2 * time.Minute

	maxHeader = 8 << 10
	maxBody   = 64 << 10

	// graceTimeout is how long requests that are being answered may take yet when the
	// server ends. It keeps nobody from his lock that they are not answered.
	graceTimeout = time.Second
)
