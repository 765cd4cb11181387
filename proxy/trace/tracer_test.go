package trace

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"redlock-proxy/proxy"
	"redlock-proxy/quorum"
)

const ms = time.Millisecond

// logged is what was logged.
type logged struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logged) logger() hclog.Logger { return hclog.New(&hclog.LoggerOptions{Output: l}) }

// start begins to trace three masters, until the test ends; those that are late are waited for.
func start(t *testing.T, endpoint string, patience time.Duration) (*Tracer, *logged) {
	t.Helper()
	log := &logged{}
	tracer, err := New(Config{Endpoint: endpoint, Share: 1, Masters: []string{"a", "b", "c"}, Version: "1.2.3", Patience: patience}, log.logger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), ms)
		defer cancel()
		tracer.Close(ctx)
	})
	return tracer, log
}

// answered is a SET of k that was won in 4 ms by its second attempt; c has not voted in that.
func answered() *proxy.Traced {
	r, _ := late()
	return r
}

// late is answered with the attempt that c has still to vote on.
func late() (*proxy.Traced, *quorum.Attempt) {
	end := time.Now()
	at := func(d time.Duration) time.Time { return end.Add(d - 4*ms) }
	trace := &quorum.Trace{Asked: at(0)}
	first := trace.Begin(quorum.Acquire, 3, at(1*ms))
	first.Voted(0, quorum.Granted, true, at(2*ms))
	first.Voted(1, quorum.Refused, true, at(2*ms))
	first.Voted(2, quorum.Unknown, true, at(3*ms))
	first.Decided(quorum.Split, votes(quorum.Granted, quorum.Refused, quorum.Unknown), at(3*ms))
	second := trace.Begin(quorum.Acquire, 3, at(3*ms))
	second.Voted(0, quorum.Granted, true, at(4*ms))
	second.Voted(1, quorum.Granted, true, at(4*ms))
	second.Decided(quorum.Won, votes(quorum.Granted, quorum.Granted, 0), at(4*ms))
	return &proxy.Traced{
		Command: "set", Kind: quorum.Acquire, DB: 2, Key: "k", ClientID: 7, Addr: "10.0.0.9:1234", ClientName: "worker",
		Asked: at(0), Answered: end, Decision: quorum.Won, Trace: trace,
	}, second
}

func votes(list ...quorum.Vote) (votes quorum.Votes) {
	for i, v := range list {
		votes |= quorum.Votes(v) << (i * quorum.VoteBits)
	}
	return votes
}

func TestSpansOfARequestAreATree(t *testing.T) {
	c := newCollector(t)
	tracer, _ := start(t, c.URL+"/v1/traces", 0)
	r := answered()
	tracer.Answered(r)
	spans := c.await(t, 9)
	text := tree(spans, "", 0)
	last := text[strings.LastIndex(text[:len(text)-1], "\n")+1:]
	want := `SET 4ms k acquire won
  attempt 2ms acquire split
    a 1ms granted
    b 1ms refused
    c 2ms unknown !
  attempt 1ms acquire won
    a 1ms granted
    b 1ms granted
`
	if text[:len(text)-len(last)] != want {
		t.Errorf("the spans are\n%s\nwant\n%s", text, want)
	}
	if !strings.HasPrefix(last, "    c ") || !strings.HasSuffix(last, " pending\n") {
		t.Errorf("the one that has not voted is %s", last)
	}
	root := spans[0]
	for _, s := range spans {
		if len(s.ParentSpanId) == 0 {
			root = s
		}
		if string(s.TraceId) != string(spans[0].TraceId) {
			t.Error("they are of several traces")
		}
	}
	for name, want := range map[string]string{
		"db.system.name": "redis", "db.operation.name": "SET", "db.namespace": "2", "redlock.client.id": "7", "redlock.client.addr": "10.0.0.9:1234",
		"redlock.client.name": "worker", "redlock.attempts": "2", "redlock.shared": "false", "redlock.why": "",
	} {
		if got := valueOf(root.Attributes, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if off := r.Asked.UnixNano() - int64(root.StartTimeUnixNano); off != 0 {
		t.Errorf("it began %d ns earlier", off)
	}
	if valueOf(c.resource, "service.name") != "redlock-proxy" || valueOf(c.resource, "service.version") != "1.2.3" {
		t.Errorf("the resource is %v", c.resource)
	}
}

func TestLateVoteIsWaitedForAndTold(t *testing.T) {
	c := newCollector(t)
	tracer, _ := start(t, c.URL+"/v1/traces", time.Hour)
	r, second := late()
	tracer.Answered(r)
	time.Sleep(2 * tellEvery)
	c.mu.Lock()
	if len(c.spans) > 0 {
		t.Error("it is told of before all have voted")
	}
	c.mu.Unlock()
	second.Voted(2, quorum.Granted, true, r.Answered.Add(7*ms))
	last := c.await(t, 9)[6]
	if text := tree([]*otlp.Span{last}, string(last.ParentSpanId), 0); text != "c 8ms granted\n" || valueOf(last.Attributes, "redlock.counted") != "false" {
		t.Errorf("the one that was late is told of as %s, counted %s", text, valueOf(last.Attributes, "redlock.counted"))
	}
}

func TestWhatAClientChoseIsClippedAndUTF8(t *testing.T) {
	c := newCollector(t)
	tracer, log := start(t, c.URL+"/v1/traces", 0)
	r := answered()
	r.Key, r.ClientName, r.User = "lock:\xff", strings.Repeat("é", 10_000), "\xc3"
	tracer.Answered(r)
	for _, s := range c.await(t, 9) {
		if len(s.ParentSpanId) > 0 {
			continue
		}
		key, name := valueOf(s.Attributes, "redlock.key"), valueOf(s.Attributes, "redlock.client.name")
		if key != "lock:\uFFFD" || name != strings.Repeat("é", 128)+"…" {
			t.Errorf("the key is %q, the name %q", key, name)
		}
	}
	if text := log.String(); text != "" {
		t.Error(text)
	}
}

func TestACollectorThatHangsHoldsUpNobody(t *testing.T) {
	asked, over := make(chan struct{}, 1000), make(chan struct{})
	c := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-over
	}))
	defer c.Close()
	defer close(over)
	tracer, log := start(t, c.URL, 0)
	tracer.Answered(answered())
	<-asked // the sender waits for its answer
	const many = 3 * mostKept
	for range many {
		tracer.Answered(answered())
	}
	tracer.mu.Lock()
	kept := len(tracer.kept)
	tracer.mu.Unlock()
	if kept > mostKept || tracer.Lost() < many-2*mostKept {
		t.Errorf("%d of %d are kept, %d are lost", kept, many, tracer.Lost())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*ms)
	defer cancel()
	tracer.Close(ctx)
	if lost := tracer.Lost(); lost != many+1 {
		t.Errorf("%d are lost in the end, want %d", lost, many+1)
	}
	if text := log.String(); !strings.Contains(text, "traces are lost") {
		t.Errorf("the log says %q", text)
	}
}

func TestACollectorThatIsNotThereIsNamedInTheLog(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close() // nobody listens there any more
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no room", http.StatusInsufficientStorage)
	}))
	defer broken.Close()
	for endpoint, want := range map[string]string{"http://" + ln.Addr().String(): "refused", broken.URL: "no room"} {
		tracer, log := start(t, endpoint, 0)
		tracer.Answered(answered())
		for began := time.Now(); !strings.Contains(log.String(), want) && time.Since(began) < patience; {
			time.Sleep(5 * ms)
		}
		if text := log.String(); !strings.Contains(text, want) || !strings.Contains(text, endpoint) || !strings.Contains(text, "lost=1") {
			t.Errorf("the log says %q, want that it is %s", text, want)
		}
	}
}

func TestWhatIsLostIsLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logged{}
		trouble := newTrouble(log.logger())
		for range 10 * 60 * 4 { // ten minutes
			trouble.lose(1)
			trouble.tell(false)
			time.Sleep(tellEvery)
		}
		if n := strings.Count(log.String(), "traces are lost"); n != 10 {
			t.Errorf("%d lines in ten minutes", n)
		}
		trouble.tell(true)
		if n := strings.Count(log.String(), "traces are lost"); n != 11 {
			t.Errorf("%d lines in the end", n)
		}
		trouble.tell(true)
		if n := strings.Count(log.String(), "traces are lost"); n != 11 {
			t.Errorf("%d lines though nothing was lost since", n)
		}
	})
}

func TestShareIsThatOfTheRequests(t *testing.T) {
	for share, want := range map[float64][2]int{0: {0, 0}, 1: {100_000, 100_000}, 0.25: {24_000, 26_000}, 0.01: {800, 1200}} {
		tracer := &Tracer{cfg: Config{Share: share}}
		n := 0
		for range 100_000 {
			if tracer.Samples() {
				n++
			}
		}
		if n < want[0] || n > want[1] {
			t.Errorf("of a share of %v, %d in 100,000 are sampled", share, n)
		}
	}
}

func TestWhatIsLeftIsSentAtTheEnd(t *testing.T) {
	c := newCollector(t)
	tracer, _ := start(t, c.URL+"/v1/traces", 0)
	for range 2*perBatch + 1 {
		tracer.Answered(answered())
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tracer.Close(ctx)
	if n := len(c.spans); n != 9*(2*perBatch+1) || tracer.Lost() > 0 {
		t.Errorf("%d spans, %d requests are lost", n, tracer.Lost())
	}
}

func TestWhatTheEnvironmentSaysOfTheCollectorHolds(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x")
	t.Setenv("OTEL_SERVICE_NAME", "locks")
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off") // that is trace-sample's
	c := newCollector(t)
	tracer, _ := start(t, c.URL+"/v1/traces", 0)
	tracer.Answered(answered())
	c.await(t, 9)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.authorization != "Bearer x" || valueOf(c.resource, "service.name") != "locks" {
		t.Errorf("authorization %q, resource %v", c.authorization, c.resource)
	}
}
