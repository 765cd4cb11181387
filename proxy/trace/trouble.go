package trace

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/otel"
)

// logEvery is how often a collector that takes nothing has a line in the log.
const logEvery = time.Minute

// trouble is what the SDK and the collector complain of, and what is lost by it.
type trouble struct {
	log  hclog.Logger
	lost atomic.Uint64 // requests

	mu     sync.Mutex // guards what follows
	latest error
	told   uint64 // of lost
	toldAt time.Time
}

// newTrouble is what the SDK complains to, wherever in the process.
func newTrouble(log hclog.Logger) *trouble {
	t := &trouble{log: log}
	otel.SetErrorHandler(t)
	otel.SetLogger(funcr.New(func(_, args string) { t.Handle(errors.New(args)) }, funcr.Options{}))
	return t
}

// Handle notes an error: the SDK's otel.ErrorHandler.
func (t *trouble) Handle(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latest = err
}

func (t *trouble) lose(n int) { t.lost.Add(uint64(n)) }

// tell logs what there is to tell, if that is due, or it is the last time.
func (t *trouble) tell(last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lost := t.lost.Load()
	if lost == t.told && t.latest == nil || !last && !t.toldAt.IsZero() && time.Since(t.toldAt) < logEvery {
		return
	}
	args := []any{"lost", lost - t.told}
	if t.latest != nil {
		args = append(args, "error", text(t.latest.Error()))
	}
	t.log.Warn("traces are lost", args...)
	t.latest, t.told, t.toldAt = nil, lost, time.Now()
}
