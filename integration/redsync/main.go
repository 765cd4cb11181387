// Command redsync takes one lock from many goroutines, with the unmodified
// redsync library, and guards a counter with it that would lose updates if two
// goroutines ever held the lock together. It is a module of its own, so that
// the program under test does not depend on what its clients depend on.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func main() {
	addr := flag.String("addr", "", "address of the proxy")
	contenders := flag.Int("contenders", 50, "goroutines that want the lock")
	during := flag.Duration("during", 10*time.Second, "how long they go on")
	flag.Parse()
	if err := run(*addr, *contenders, *during); err != nil {
		fmt.Fprintln(os.Stderr, "redsync:", err)
		os.Exit(1)
	}
}

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
	time.Sleep(200 * time.Microsecond)
	c.value.Store(v + 1)
	c.holders.Add(-1)
	c.held.Add(1)
}

func run(addr string, contenders int, during time.Duration) error {
	client := redis.NewClient(&redis.Options{Addr: addr, PoolSize: contenders})
	defer client.Close()
	locks := redsync.New(goredis.NewPool(client))

	ctx, cancel := context.WithTimeout(context.Background(), during)
	defer cancel()
	var guarded counter
	var group sync.WaitGroup
	failures := make(chan error, contenders)
	for range contenders {
		group.Go(func() {
			for ctx.Err() == nil {
				mutex := locks.NewMutex("redsync:counter",
					redsync.WithExpiry(30*time.Second),
					redsync.WithTries(1_000_000),
					redsync.WithRetryDelayFunc(func(int) time.Duration { return 5 * time.Millisecond }))
				if err := mutex.LockContext(ctx); err != nil {
					if ctx.Err() == nil {
						failures <- fmt.Errorf("lock: %w", err)
						return
					}
					return
				}
				guarded.add()
				// The lock is given back also when the time is over.
				if ok, err := mutex.UnlockContext(context.WithoutCancel(ctx)); err != nil || !ok {
					failures <- fmt.Errorf("unlock: %v, %w", ok, err)
					return
				}
			}
		})
	}
	group.Wait()
	close(failures)

	fmt.Printf("held %d times, counted %d, overlaps %d\n", guarded.held.Load(), guarded.value.Load(), guarded.overlap.Load())
	for err := range failures {
		return err
	}
	switch {
	case guarded.overlap.Load() > 0 || guarded.held.Load() != guarded.value.Load():
		return errors.New("updates were lost")
	case guarded.held.Load() == 0:
		return errors.New("nobody ever had the lock")
	}
	return nil
}
