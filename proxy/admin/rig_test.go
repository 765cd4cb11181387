package admin

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/proxy"
	"redlock-proxy/quorum"
)

// fakeSource is a proxy that stands as a test has it.
type fakeSource struct {
	password func() string // of default; nil: none
	operates bool          // default does

	mu              sync.Mutex // guards what follows
	ready, draining bool
	figures         proxy.Figures
	status          quorum.Status
	delay           time.Duration // of who gives a wrong password
	denied          int
	forbidden       []string // why
}

func (f *fakeSource) Ready() bool    { f.mu.Lock(); defer f.mu.Unlock(); return f.ready }
func (f *fakeSource) Draining() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.draining }

func (f *fakeSource) Figures() proxy.Figures { f.mu.Lock(); defer f.mu.Unlock(); return f.figures }
func (f *fakeSource) Status() quorum.Status  { f.mu.Lock(); defer f.mu.Unlock(); return f.status }

// Knows and the like are of one user, default, who looks into everything.
func (f *fakeSource) Knows(user, password string) bool {
	return user == "default" && (f.Anybody() == user || password == f.password())
}

func (f *fakeSource) Anybody() string {
	if f.password == nil || f.password() == "" {
		return "default"
	}
	return ""
}
func (f *fakeSource) Certified([]string) string { return "" }
func (f *fakeSource) Looks(user string) bool    { return user == "default" }
func (f *fakeSource) Operates(string) bool      { return f.operates }

func (f *fakeSource) Denied(from net.Addr, door string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.denied++
	return f.delay
}

func (f *fakeSource) Forbidden(_ proxy.Operator, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forbidden = append(f.forbidden, why)
}

// newRigWith is newRig, where a password is asked for.
func newRigWith(t *testing.T, password func() string, cfg Config) *rig {
	r := newRig(t, cfg)
	r.source.password = password
	return r
}

// rig is a server whose clients are pipes, for synctest. It ends with end.
type rig struct {
	t      *testing.T
	source *fakeSource
	server *Server
	pipes  *pipeListener
	log    *strings.Builder
	served chan error
}

func newRig(t *testing.T, cfg Config) *rig {
	r := &rig{t: t, source: &fakeSource{ready: true}, pipes: newPipeListener(), log: &strings.Builder{}, served: make(chan error, 1)}
	r.server = New(cfg, r.source, hclog.New(&hclog.LoggerOptions{Output: r.log}))
	go func() { r.served <- r.server.Serve(r.pipes) }()
	return r
}

func (r *rig) end() {
	r.server.Shutdown(context.Background())
	if err := <-r.served; err != nil {
		r.t.Errorf("Serve: %v", err)
	}
}

// dial connects.
func (r *rig) dial() net.Conn {
	ours, theirs := net.Pipe()
	r.pipes.conns <- theirs
	r.t.Cleanup(func() { ours.Close() })
	return ours
}

// answer is what a request was answered.
type answer struct {
	code   int
	header http.Header
	body   string
}

// ask sends a request by a connection of its own: "GET /livez" with header lines.
func (r *rig) ask(request string, headers ...string) answer {
	r.t.Helper()
	nc := r.dial()
	defer nc.Close()
	a, err := askOn(nc, request, headers...)
	if err != nil {
		r.t.Errorf("%s %q: %v", request, headers, err)
	}
	return a
}

// askOn sends a request, which is of localhost unless a header says otherwise.
func askOn(nc net.Conn, request string, headers ...string) (answer, error) {
	head := request + " HTTP/1.1\r\n"
	if !strings.Contains(strings.Join(headers, "\n"), "Host:") {
		head += "Host: localhost:6381\r\n"
	}
	for _, h := range headers {
		head += h + "\r\n"
	}
	go io.WriteString(nc, head+"\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(nc), &http.Request{Method: strings.Fields(request)[0]})
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(body)}, err
}

// basic is the header that gives a password.
func basic(user, password string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return "Authorization: " + r.Header.Get("Authorization")
}

// pipeListener hands out the connections that a test puts in.
type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
