package admin

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/commands"
	"redlock-proxy/proxy"
	"redlock-proxy/quorum"
)

// fakeEngine answers at once that what is asked is won, and stands as a test has it.
type fakeEngine struct{ status quorum.Status }

func (e *fakeEngine) Put(r *quorum.Request, asker quorum.Asker) {
	asker.Answer(quorum.Result{Decision: quorum.Won}).Flush()
}

func (e *fakeEngine) PutSince(r *quorum.Request, asker quorum.Asker, _ time.Time) { e.Put(r, asker) }

func (e *fakeEngine) PutStaying(r *quorum.Request, asker quorum.Asker, _ time.Time, _ quorum.Stay) {
	e.Put(r, asker)
}
func (e *fakeEngine) Stay(int) (quorum.Stay, error) { return nil, errors.ErrUnsupported }

func (e *fakeEngine) Weight(*quorum.Request) int  { return 0 }
func (e *fakeEngine) Memory() int                 { return 5 }
func (e *fakeEngine) TakeBack(quorum.Lock)        {}
func (e *fakeEngine) Ready() bool                 { return true }
func (e *fakeEngine) Now() (time.Time, bool)      { return time.Unix(1, 0), true }
func (e *fakeEngine) Status() quorum.Status       { return e.status }
func (e *fakeEngine) Admit(string) error          { return nil }
func (e *fakeEngine) Drain(string, bool) error    { return nil }
func (e *fakeEngine) Resume(string) error         { return nil }
func (e *fakeEngine) Open(int) error              { return nil }
func (e *fakeEngine) Attend(quorum.Audience)      {}
func (e *fakeEngine) Publish(string, string) int  { return 0 }
func (e *fakeEngine) Subscribe() quorum.Result    { return quorum.Result{Decision: quorum.Won} }
func (e *fakeEngine) Observe(quorum.Observer)     {}
func (e *fakeEngine) Watch(int, string)           {}
func (e *fakeEngine) Tells(context.Context) error { return nil }
func (e *fakeEngine) Broadcast(bool)              {}

// startProxy starts a real server over the fake engine, and gives a client's connection to it.
func startProxy(t *testing.T, e *fakeEngine) (*proxy.Server, net.Conn) {
	t.Helper()
	options := commands.Options{Version: "7.2.0", Password: func() string { return "" }}
	s := proxy.New(proxy.Config{Commands: options, ProgramVersion: "1.2.3"}, e, hclog.NewNullLogger())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	nc, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		nc.Close()
		s.Shutdown(context.Background())
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s, nc
}

// infoOf is INFO everything of a proxy.
func infoOf(t *testing.T, nc net.Conn) string {
	t.Helper()
	io.WriteString(nc, "INFO everything\r\n")
	r := bufio.NewReader(nc)
	head, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "$")))
	if err != nil {
		t.Fatalf("INFO is answered %q", head)
	}
	text := make([]byte, n+2)
	if _, err := io.ReadFull(r, text); err != nil {
		t.Fatal(err)
	}
	return string(text)
}
