package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	restartClients = 50
	betweenPairs   = 400 * time.Millisecond
	longTTL        = 5 * time.Minute
)

// restarted is what clients of proxies that are restarted meet.
type restarted struct {
	name   string
	mu     sync.Mutex // guards what follows
	pairs  int
	errors map[string]int
}

// met notes an error, which many clients may meet.
func (r *restarted) met(what string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors[what+": "+strings.ReplaceAll(err.Error(), "\n", " ")]++
}

func (r *restarted) paired() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pairs++
}

// restart has go-redis's clients, with nothing set but the address, take and release locks until
// the input ends. Each key is wanted once, so each lock has to be had, and released.
func restart(ctx context.Context, addrs []string) bool {
	r := &restarted{name: goRedis.name + " " + goRedis.version(), errors: map[string]int{}}
	stop := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	var group, ready sync.WaitGroup
	ready.Add(restartClients)
	for i := range restartClients {
		group.Go(func() { r.client(ctx, i, addrs[i%len(addrs)], &ready, stop) })
	}
	ready.Wait()
	fmt.Printf("restart begins %s\n", r.name)
	group.Wait()
	for what, times := range r.errors {
		fmt.Printf("error %s: %d times %s\n", r.name, times, what)
	}
	fmt.Printf("ok %s: %d locks by %d clients\n", r.name, r.pairs, restartClients)
	return ctx.Err() == nil
}

// client holds one lock all the time, and takes and releases another again and again.
func (r *restarted) client(ctx context.Context, i int, addr string, ready *sync.WaitGroup, stop <-chan struct{}) {
	c := &goRedisClient{redis.NewClient(&redis.Options{Addr: addr})}
	defer c.Close()
	key := fmt.Sprintf("restart:%s:%d", r.name, i)
	long, err := c.try(ctx, key+":long", longTTL)
	ready.Done()
	if err != nil {
		r.met("the long lock", err)
		return
	}
	tick := time.NewTicker(betweenPairs)
	defer tick.Stop()
	for n := 0; ; n++ {
		if got, err := c.try(ctx, fmt.Sprintf("%s:%d", key, n), plenty); err != nil {
			r.met("lock", err)
		} else if err := got.unlock(ctx); err != nil {
			r.met("unlock", err)
		} else {
			r.paired()
		}
		select {
		case <-stop:
			if err := long.unlock(ctx); err != nil {
				r.met("release the long lock", err)
			}
			return
		case <-tick.C:
		}
	}
}
