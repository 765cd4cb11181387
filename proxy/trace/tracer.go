package trace

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"redlock-proxy/proxy"
)

// Config is what a Tracer works with.
type Config struct {
	Endpoint string  // the URL to which traces are sent, by OTLP over HTTP
	Share    float64 // of the requests, from 0 to 1
	Masters  []string
	Version  string

	// Patience is how long a master that is late is waited for once the request is answered.
	Patience time.Duration
}

const (
	// mostKept are the requests that wait: for masters that are late, or for the collector.
	// There is as much in hand that is being sent.
	mostKept = 4096

	// tellEvery is how often those are sent that have nothing to wait for any more.
	tellEvery = 250 * time.Millisecond

	// perBatch are sent together. With five masters and one attempt that is 900 spans.
	perBatch = 128

	// sendTimeout is how long a collector has to take a batch.
	sendTimeout = 5 * time.Second
)

// Tracer is a proxy.Tracer.
type Tracer struct {
	cfg      Config
	spans    trace.Tracer
	ended    *ended
	exporter *otlptrace.Exporter
	trouble  *trouble

	mu   sync.Mutex // guards kept
	kept []*kept

	closing chan struct{} // closed when Close begins
	close   sync.Once
	done    chan struct{} // closed when the sender has ended
	cancel  context.CancelFunc
}

// New begins to send traces. The error is about what the environment says of the collector; none
// is asked for yet.
func New(cfg Config, log hclog.Logger) (*Tracer, error) {
	ctx, cancel := context.WithCancel(context.Background())
	trouble := newTrouble(log.With("endpoint", cfg.Endpoint))
	poster, err := newPoster(cfg.Endpoint)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("send traces to %s: %w", cfg.Endpoint, err)
	}
	exporter, err := otlptrace.New(ctx, poster)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("send traces to %s: %w", cfg.Endpoint, err)
	}
	of, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", "redlock-proxy"), attribute.String("service.version", cfg.Version)),
		resource.WithFromEnv())
	if err != nil {
		trouble.Handle(err) // it is of what there is
	}
	t := &Tracer{
		cfg: cfg, exporter: exporter, ended: new(ended), trouble: trouble,
		closing: make(chan struct{}), done: make(chan struct{}), cancel: cancel,
	}
	// What is sampled has been decided, whatever the environment says.
	provider := sdk.NewTracerProvider(sdk.WithSampler(sdk.AlwaysSample()), sdk.WithResource(of), sdk.WithSpanProcessor(t.ended))
	t.spans = provider.Tracer("redlock-proxy", trace.WithInstrumentationVersion(cfg.Version))
	go t.send(ctx)
	return t, nil
}

// Samples tells whether one more request is to be traced.
func (t *Tracer) Samples() bool { return rand.Float64() < t.cfg.Share }

// kept is a request that was answered, with texts of its own: those of a client are pieces of
// what has been read of it.
type kept struct{ proxy.Traced }

// mostText is how much is told of a text that a client chose, in bytes.
const mostText = 256

// text is what may be told of a client's text: the collector takes UTF-8 alone.
func text(s string) string {
	if len(s) > mostText {
		return strings.ToValidUTF8(s[:mostText], "\uFFFD") + "…"
	}
	return strings.Clone(strings.ToValidUTF8(s, "\uFFFD"))
}

// Answered keeps a request until it is told of.
func (t *Tracer) Answered(r *proxy.Traced) {
	k := &kept{*r}
	k.Key, k.ClientName, k.User = text(r.Key), text(r.ClientName), text(r.User)
	t.mu.Lock()
	full := len(t.kept) == mostKept
	if !full {
		t.kept = append(t.kept, k)
	}
	t.mu.Unlock()
	if full {
		t.trouble.lose(1)
	}
}

// take takes out what is to be told now: all, or what nothing more will be noted of, or not
// waited for.
func (t *Tracer) take(all bool, now time.Time) (due []*kept) {
	t.mu.Lock()
	defer t.mu.Unlock()
	waits := t.kept[:0]
	for _, k := range t.kept {
		if all || now.Sub(k.Answered) >= t.cfg.Patience || k.Trace.Complete() {
			due = append(due, k)
		} else {
			waits = append(waits, k)
		}
	}
	clear(t.kept[len(waits):])
	t.kept = waits
	return due
}

// Lost is how many requests were to be told of, and were not.
func (t *Tracer) Lost() uint64 { return t.trouble.lost.Load() }

// send is the sender's life.
func (t *Tracer) send(ctx context.Context) {
	defer close(t.done)
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.sendAll(ctx, t.take(false, time.Now()))
			t.trouble.tell(false)
		case <-t.closing:
			t.sendAll(ctx, t.take(true, time.Now()))
			t.trouble.tell(true)
			return
		}
	}
}

// sendAll sends them in batches. Where a batch is not taken, the others are lost as well: nothing
// is kept for a collector that is not there.
func (t *Tracer) sendAll(ctx context.Context, due []*kept) {
	for len(due) > 0 {
		n := min(len(due), perBatch)
		now := time.Now()
		for _, k := range due[:n] {
			t.tell(k, now)
		}
		limit, cancel := context.WithTimeout(ctx, sendTimeout)
		err := t.exporter.ExportSpans(limit, t.ended.take())
		cancel()
		if err != nil {
			t.trouble.Handle(err)
			t.trouble.lose(len(due))
			return
		}
		due = due[n:]
	}
}

// Close sends what is left, as long as ctx lasts. Nothing may be traced any more.
func (t *Tracer) Close(ctx context.Context) {
	t.close.Do(func() { close(t.closing) })
	stop := context.AfterFunc(ctx, t.cancel)
	defer stop()
	<-t.done
	t.cancel()
	t.exporter.Shutdown(ctx)
}
