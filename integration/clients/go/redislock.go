package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	bsm "github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

// redislockPause is the time between two tries, as in the library's examples.
const redislockPause = 100 * time.Millisecond

var redislock = library{
	name:   "bsm/redislock",
	module: "github.com/bsm/redislock",
	connect: func(addr string) (client, error) {
		c := redis.NewClient(&redis.Options{Addr: addr})
		return &redislockClient{bsm.New(c), c.Close}, nil
	},
	also: []scenario{
		{"ttl and metadata", redislockTells},
		{"the same token takes it again", redislockReenters},
		{"several keys, all or none", redislockSeveral},
	},
}

type redislockClient struct {
	*bsm.Client
	end func() error
}

func (c *redislockClient) close() error { return c.end() }

func (c *redislockClient) try(ctx context.Context, key string, ttl time.Duration) (lease, error) {
	got, err := c.Obtain(ctx, key, ttl, nil)
	return redislockLease{got, ttl}, redislockSays(err)
}

func (c *redislockClient) lock(ctx context.Context, key string, ttl time.Duration) (lease, error) {
	got, err := c.Obtain(ctx, key, ttl, &bsm.Options{
		RetryStrategy: bsm.LimitRetry(bsm.LinearBackoff(redislockPause), 20),
	})
	return redislockLease{got, ttl}, redislockSays(err)
}

func redislockSays(err error) error {
	if errors.Is(err, bsm.ErrNotObtained) {
		return errTaken
	}
	return err
}

type redislockLease struct {
	*bsm.Lock
	ttl time.Duration
}

func (l redislockLease) extend(ctx context.Context) error {
	err := l.Refresh(ctx, l.ttl, nil)
	if errors.Is(err, bsm.ErrNotObtained) {
		return errLost
	}
	return err
}

func (l redislockLease) unlock(ctx context.Context) error {
	err := l.Release(ctx)
	if errors.Is(err, bsm.ErrLockNotHeld) {
		return errLost
	}
	return err
}

func redislockTells(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	got, err := cs[0].(*redislockClient).Obtain(ctx, key(l, "tells"), plenty, &bsm.Options{Metadata: "who I am"})
	if err != nil {
		return fmt.Errorf("obtain: %w", err)
	}
	if ttl, err := got.TTL(ctx); err != nil || !plausible(ttl) {
		return fmt.Errorf("a ttl of %v, %v", ttl, err)
	}
	if got.Metadata() != "who I am" {
		return fmt.Errorf("metadata %q", got.Metadata())
	}
	if err := got.Release(ctx); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	if ttl, err := got.TTL(ctx); err != nil || ttl != 0 {
		return fmt.Errorf("a ttl of %v after its release, %v", ttl, err)
	}
	return nil
}

// plausible is whether a lock may have so much left that was taken for plenty
// just now.
func plausible(ttl time.Duration) bool { return ttl > plenty/2 && ttl <= plenty }

func redislockReenters(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 2)
	if err != nil {
		return err
	}
	defer closeAll()
	key := key(l, "again")
	options := &bsm.Options{Token: "a token that I keep."}
	first, err := cs[0].(*redislockClient).Obtain(ctx, key, plenty/2, options)
	if err != nil {
		return fmt.Errorf("obtain: %w", err)
	}
	again, err := cs[1].(*redislockClient).Obtain(ctx, key, plenty, options)
	if err != nil {
		return fmt.Errorf("obtain again: %w", err)
	}
	if ttl, err := first.TTL(ctx); err != nil || !plausible(ttl) {
		return fmt.Errorf("a ttl of %v, %v", ttl, err)
	}
	if err := held(ctx, cs[1], key); err != nil {
		return err
	}
	if err := again.Release(ctx); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return free(ctx, cs[1], key)
}

func redislockSeveral(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 2)
	if err != nil {
		return err
	}
	defer closeAll()
	one, other := cs[0].(*redislockClient), cs[1].(*redislockClient)
	a, b, c := key(l, "a"), key(l, "b"), key(l, "c")
	got, err := one.ObtainMulti(ctx, []string{a, b}, plenty, nil)
	if err != nil {
		return fmt.Errorf("obtain two: %w", err)
	}
	if _, err := other.ObtainMulti(ctx, []string{c, b}, plenty, nil); !errors.Is(err, bsm.ErrNotObtained) {
		return fmt.Errorf("obtain two of which one is held: %v", err)
	}
	if err := free(ctx, other, c); err != nil {
		return fmt.Errorf("the free one of the two: %w", err)
	}
	if err := got.Refresh(ctx, plenty, nil); err != nil {
		return fmt.Errorf("refresh two: %w", err)
	}
	if ttl, err := got.TTL(ctx); err != nil || !plausible(ttl) {
		return fmt.Errorf("a ttl of %v, %v", ttl, err)
	}
	if err := got.Release(ctx); err != nil {
		return fmt.Errorf("release two: %w", err)
	}
	for _, k := range []string{a, b} {
		if err := free(ctx, other, k); err != nil {
			return err
		}
	}
	return nil
}
