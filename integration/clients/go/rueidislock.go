package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/rueidis"
	locks "github.com/redis/rueidis/rueidislock"
)

// rueidislock extends its locks by itself, and waits for one until it is told that a key has changed: by CLIENT TRACKING,
// and by nothing else.
var (
	rueidislock       = rueidislockWith("rueidislock", false)
	rueidislockNoLoop = rueidislockWith("rueidislock-NoLoopTracking", true)
)

func rueidislockWith(name string, noLoop bool) library {
	return library{
		name:   name,
		module: "github.com/redis/rueidis",
		connect: func(addr string) (client, error) {
			l, err := locks.NewLocker(locks.LockerOption{
				ClientOption:   rueidis.ClientOption{InitAddress: []string{addr}},
				KeyValidity:    2 * time.Second,
				TryNextAfter:   2 * time.Second, // its 20 ms are short where twenty want a lock while a master dies
				NoLoopTracking: noLoop,
			})
			return rueidislockClient{l}, err
		},
		instead: []scenario{
			{"two contenders, one wins", oneWins},
			{"kept past its ttl", rueidislockKeeps},
			{"waiting woken by the message", rueidislockWakes},
			{"a holder learns that his lock was taken by force", rueidislockForces},
		},
	}
}

type rueidislockClient struct{ locks.Locker }

func (c rueidislockClient) close() error { c.Close(); return nil }

func (c rueidislockClient) try(ctx context.Context, key string, _ time.Duration) (lease, error) {
	held, end, err := c.TryWithContext(ctx, key)
	if errors.Is(err, locks.ErrNotLocked) {
		return nil, errTaken
	}
	return rueidislockLease{held, end}, err
}

func (c rueidislockClient) lock(ctx context.Context, key string, _ time.Duration) (lease, error) {
	held, end, err := c.WithContext(ctx, key)
	return rueidislockLease{held, end}, err
}

type rueidislockLease struct {
	context.Context
	end context.CancelFunc
}

// extend is what it does by itself.
func (l rueidislockLease) extend(context.Context) error {
	if l.Err() != nil {
		return errLost
	}
	return nil
}

func (l rueidislockLease) unlock(context.Context) error {
	l.end()
	return nil
}

func rueidislockKeeps(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 2)
	if err != nil {
		return err
	}
	defer closeAll()
	key := key(l, "kept")
	got, err := cs[0].lock(ctx, key, 0)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	time.Sleep(5 * time.Second)
	if err := held(ctx, cs[1], key); err != nil {
		return fmt.Errorf("past its ttl: %w", err)
	}
	if err := got.extend(ctx); err != nil {
		return fmt.Errorf("past its ttl: %w", err)
	}
	return errors.Join(got.unlock(ctx), free(ctx, cs[1], key))
}

// rueidislockWakes has several wait for a lock, each of whom is told when the one before him lets go: nothing else wakes
// them, but the end of the run.
func rueidislockWakes(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 6)
	if err != nil {
		return err
	}
	defer closeAll()
	key := key(l, "woken")
	got, err := cs[0].lock(ctx, key, 0)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	had := make(chan error)
	for _, c := range cs[1:] {
		go func() {
			next, err := c.lock(ctx, key, 0)
			if err == nil {
				err = next.unlock(ctx)
			}
			had <- err
		}()
	}
	time.Sleep(500 * time.Millisecond)
	released := time.Now()
	if err := got.unlock(ctx); err != nil {
		return err
	}
	for i := range cs[1:] {
		err = errors.Join(err, <-had)
		fmt.Printf("woken %s: number %d after %v\n", l.name, i+1, time.Since(released))
	}
	return err
}

func rueidislockForces(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 2)
	if err != nil {
		return err
	}
	defer closeAll()
	key := key(l, "forced")
	got, err := cs[0].lock(ctx, key, 0)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	forced, end, err := cs[1].(rueidislockClient).ForceWithContext(ctx, key)
	if err != nil {
		return fmt.Errorf("by force: %w", err)
	}
	defer end()
	select {
	case <-got.(rueidislockLease).Done():
	case <-ctx.Done():
		return errors.New("the holder before has learned of nothing")
	}
	return forced.Err()
}
