package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	crowd  = 20
	during = 5 * time.Second
	least  = 50 // increments; if there are fewer by then it goes on
)

// counter is what the lock guards. Its loads and stores are atomic one by one
// and not together: without the lock, updates get lost.
type counter struct {
	value   atomic.Int64
	holders atomic.Int64
	held    atomic.Int64 // how often the lock was had
	overlap atomic.Int64 // how often it was had while another had it
}

func (c *counter) add() {
	if c.holders.Add(1) != 1 {
		c.overlap.Add(1)
	}
	v := c.value.Load()
	time.Sleep(time.Millisecond)
	c.value.Store(v + 1)
	c.holders.Add(-1)
	c.held.Add(1)
}

// guardedCounter lets a crowd increment one counter. What it gives says how
// often they did.
func guardedCounter(ctx context.Context, l library, addr string) (string, error) {
	cs, closeAll, err := contenders(l, addr, crowd)
	if err != nil {
		return "", err
	}
	defer closeAll()
	var guarded counter
	var group sync.WaitGroup
	failures := make([]error, crowd)
	end := time.Now().Add(during)
	for i, c := range cs {
		group.Go(func() {
			for failures[i] == nil && (time.Now().Before(end) || guarded.held.Load() < least) {
				failures[i] = addOnce(ctx, c, key(l, "counter"), &guarded)
			}
		})
	}
	group.Wait()
	if err := errors.Join(failures...); err != nil {
		return "", err
	}
	counted, held, overlap := guarded.value.Load(), guarded.held.Load(), guarded.overlap.Load()
	if counted != held || overlap > 0 {
		return "", fmt.Errorf("held %d times, counted %d, %d times by two: updates were lost", held, counted, overlap)
	}
	return fmt.Sprintf("%d guarded increments by %d contenders", held, crowd), nil
}

func addOnce(ctx context.Context, c client, key string, guarded *counter) error {
	got, err := c.lock(ctx, key, plenty)
	if errors.Is(err, errTaken) {
		return nil // the library has waited as long as it does
	}
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	guarded.add()
	if err := got.unlock(ctx); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	return nil
}
