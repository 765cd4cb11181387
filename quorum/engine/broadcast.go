package engine

import (
	"context"
	"sync"
)

// broadcast is whether masters tell of all changes.
type broadcast struct {
	life  context.Context
	begin func(ctx context.Context, running, before *sync.WaitGroup) // the goroutines, when those of before have ended

	mu      sync.Mutex // guards what follows
	end     context.CancelFunc
	running *sync.WaitGroup
	closed  bool
}

// Broadcast has masters tell the observer of all changes of all keys, or no more. They say as much as is written on them,
// so it is for as long as somebody is to know.
func (e *Engine) Broadcast(on bool) {
	b := &e.broadcast
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case on && b.end == nil && !b.closed:
		var ctx context.Context
		before := b.running
		ctx, b.end = context.WithCancel(b.life)
		b.running = new(sync.WaitGroup)
		b.begin(ctx, b.running, before)
	case !on && b.end != nil:
		b.end()
		b.end = nil
	}
}

// close has no goroutine begin any more.
func (b *broadcast) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
}
