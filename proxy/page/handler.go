package page

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Config is how a Handler is made.
type Config struct {
	Source Source
	Log    hclog.Logger

	// Demo lets those orders through by which the masters of a demo are broken.
	Demo bool

	// Who tells who sent a request. Nil is by its address and by the name that it
	// gives with its password, which whoever let it in has checked.
	Who func(*http.Request) Who
}

// Handler is the page, as an http.Handler for /, /api/... and /api/stream.
type Handler struct {
	source  Source
	log     hclog.Logger
	who     func(*http.Request) Who
	foreign *http.CrossOriginProtection

	frames    frames
	streams   streams
	questions chan struct{} // has an element for each that is asked
}

// maxQuestions that a Source is asked at a time, other than for its overview, as each may come to
// commands for every master, and askedFor is how long one may take.
const (
	maxQuestions = 8
	askedFor     = 10 * time.Second
)

// New makes a Handler. It is to be closed, so that no stream keeps a server from its end.
func New(cfg Config) *Handler {
	h := &Handler{source: cfg.Source, log: cfg.Log, who: cfg.Who, foreign: http.NewCrossOriginProtection(),
		questions: make(chan struct{}, maxQuestions)}
	if h.who == nil {
		h.who = whoAsks
	}
	h.frames.source, h.frames.demo = cfg.Source, cfg.Demo
	h.streams.readWithin = readWithin
	h.streams.ctx, h.streams.end = context.WithCancel(context.Background())
	return h
}

// Close ends all streams, of which there are none any more when it returns.
func (h *Handler) Close() { h.streams.close() }

func whoAsks(r *http.Request) Who {
	user, _, _ := r.BasicAuth()
	return Who{User: user, From: r.RemoteAddr}
}

// route is what one address answers to one method.
type route struct {
	method string
	serve  func(*Handler, http.ResponseWriter, *http.Request)
}

var routes = map[string]route{
	"/":             {http.MethodGet, (*Handler).page},
	"/api/overview": {http.MethodGet, (*Handler).overview},
	"/api/locks":    {http.MethodGet, (*Handler).locks},
	"/api/lock":     {http.MethodGet, (*Handler).lock},
	"/api/events":   {http.MethodGet, (*Handler).events},
	"/api/stream":   {http.MethodGet, (*Handler).stream},
	"/api/order":    {http.MethodPost, (*Handler).order},
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	to, known := routes[r.URL.Path]
	switch {
	case !known:
		refuse(w, http.StatusNotFound, "there is nothing at this address")
	case r.Method != to.method && !(r.Method == http.MethodHead && to.method == http.MethodGet && r.URL.Path != "/api/stream"):
		w.Header().Set("Allow", to.method)
		refuse(w, http.StatusMethodNotAllowed, "this address takes "+to.method+" alone")
	default:
		to.serve(h, w, r)
	}
}
