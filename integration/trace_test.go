package integration

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// fakeCollector takes traces as a collector of OpenTelemetry does.
type fakeCollector struct {
	*httptest.Server

	mu    sync.Mutex // guards what follows
	bytes []byte     // of all that came
	spans []*otlp.Span
}

func startCollector(t *testing.T) *fakeCollector {
	c := &fakeCollector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		var request otlp.TracesData
		if err == nil {
			err = proto.Unmarshal(b, &request)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.bytes = append(c.bytes, b...)
		for _, of := range request.ResourceSpans {
			for _, s := range of.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// of waits for the spans of a command about a key: its own, and below it those of all attempts
// and of their masters, in words.
func (c *fakeCollector) of(t *testing.T, command, key string) (told string) {
	t.Helper()
	eventually(t, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, s := range c.spans {
			if s.Name == command && said(s, "redlock.key") == key {
				told = c.tree(s, "")
				return nil
			}
		}
		return fmt.Errorf("%s %s is not told of", command, key)
	})
	return told
}

// tree is a span with those below it, siblings in the order of their names. mu is held.
func (c *fakeCollector) tree(s *otlp.Span, indent string) string {
	line := indent + s.Name
	for _, name := range []string{"redlock.kind", "redlock.decision", "redlock.vote", "redlock.client.name"} {
		if v := said(s, name); v != "" {
			line += " " + v
		}
	}
	var below []string
	for _, other := range c.spans {
		if bytes.Equal(other.ParentSpanId, s.SpanId) {
			below = append(below, c.tree(other, indent+"  "))
			if other.StartTimeUnixNano < s.StartTimeUnixNano || other.EndTimeUnixNano < other.StartTimeUnixNano || !bytes.Equal(other.TraceId, s.TraceId) {
				line += " and below it is one that does not fit"
			}
		}
	}
	slices.Sort(below)
	return line + "\n" + strings.Join(below, "")
}

// said is an attribute that is a text.
func said(s *otlp.Span, name string) string {
	for _, a := range s.Attributes {
		if a.Key == name {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// treeOf is the spans of a command that was decided by its first attempt.
func treeOf(masters []*Redis, command, kind, decision string, votes ...string) string {
	text := fmt.Sprintf("%s %s %s worker\n  attempt %[2]s %[3]s\n", command, kind, decision)
	for i, m := range masters {
		text += fmt.Sprintf("    %s %s\n", m.Addr, votes[i])
	}
	return text
}

// inOrder starts masters in the order of their addresses.
func inOrder(t *testing.T, n int) []*Redis {
	masters := startMasters(t, n)
	slices.SortFunc(masters, func(a, b *Redis) int { return strings.Compare(a.Addr, b.Addr) })
	return masters
}

func TestTracesShowWhatEachMasterSaid(t *testing.T) {
	t.Parallel()
	c := startCollector(t)
	masters := inOrder(t, 3)
	p := startProxy(t, append(append(flags(masters), unhurried...), "--trace-endpoint", c.URL, "--trace-sample", "1")...)
	client := dial(t, p.Addr)
	client.want("OK", "CLIENT", "SETNAME", "worker")
	want := func(command, kind string) {
		t.Helper()
		want := treeOf(masters, command, kind, "won", "granted", "granted", "granted")
		if got := c.of(t, command, "k"); got != want {
			t.Errorf("told is\n%s\nwant\n%s", got, want)
		}
	}
	const token, another = "a-token-that-nobody-may-see", "another-token"
	client.want("OK", acquireArgs("k", token, ttl)...)
	want("SET", "acquire")
	client.want(nil, acquireArgs("k", another, ttl)...)
	client.want(1, "PEXPIRE", "k", milliseconds(ttl))
	want("PEXPIRE", "write")
	client.want(1, releaseArgs("k", token)...)
	want("EVAL", "release")
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, secret := range []string{token, another} {
		if bytes.Contains(c.bytes, []byte(secret)) {
			t.Errorf("the collector is given %s", secret)
		}
	}
}

func TestTracesTellOfAMasterThatHangs(t *testing.T) {
	t.Parallel()
	c := startCollector(t)
	masters := inOrder(t, 3)
	relays := relayed(t, masters)
	p := startProxy(t, append(relayFlags(relays), "--trace-endpoint", c.URL, "--trace-sample", "1")...)
	client := dial(t, p.Addr)
	client.want("OK", "CLIENT", "SETNAME", "worker")
	relays[2].Requests.Hold()
	client.want("OK", acquireArgs("k", "t", ttl)...)
	got := c.of(t, "SET", "k")
	relays[2].Requests.Release()
	pending := treeOf(masters, "SET", "acquire", "won", "granted", "granted", "pending")
	unknown := treeOf(masters, "SET", "acquire", "won", "granted", "granted", "unknown")
	if got != pending && got != unknown {
		t.Errorf("told is\n%s\nwant\n%s", got, unknown)
	}
}

func TestACollectorThatHangsCostsNobodyAnything(t *testing.T) {
	t.Parallel()
	asked, over := make(chan struct{}, 1000), make(chan struct{})
	c := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-over
	}))
	t.Cleanup(c.Close)
	t.Cleanup(func() { close(over) })
	p := startProxy(t, append(flags(startMasters(t, 3)), "--trace-endpoint", c.URL, "--trace-sample", "1")...)
	client := dial(t, p.Addr)
	client.want("OK", acquireArgs("k", "t", ttl)...)
	select {
	case <-asked:
	case <-time.After(patience):
		t.Fatal("the collector is not asked")
	}
	for i := range 1000 {
		client.want("OK", acquireArgs(fmt.Sprint("k", i), "t", ttl)...)
	}
	// More than are kept.
	for range 10 {
		for i := range 1000 {
			client.send("DEL", fmt.Sprint("k", i))
		}
		for range 1000 {
			if _, err := client.Receive(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if code, err := p.Terminate(patience); err != nil || code != 0 {
		t.Errorf("the proxy ended with exit code %d, %v", code, err)
	}
	if log := p.Log(); !strings.Contains(log, "traces are lost") {
		t.Errorf("the log says nothing of what is lost\n%s", log)
	}
}
