package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	bsm094 "older.invalid/redislock"
)

// redislock094 is the library as it was before it could lock several keys:
// other scripts, that answer otherwise. One build cannot hold one module twice,
// so go.mod gives this version a path of its own.
var redislock094 = library{
	name:   "bsm/redislock",
	module: "older.invalid/redislock",
	connect: func(addr string) (client, error) {
		c := redis.NewClient(&redis.Options{Addr: addr})
		return &redislock094Client{bsm094.New(c), c.Close}, nil
	},
	also: []scenario{{"ttl and metadata", redislock094Tells}},
}

type redislock094Client struct {
	*bsm094.Client
	end func() error
}

func (c *redislock094Client) close() error { return c.end() }

func (c *redislock094Client) try(ctx context.Context, key string, ttl time.Duration) (lease, error) {
	got, err := c.Obtain(ctx, key, ttl, nil)
	return redislock094Lease{got, ttl}, redislock094Says(err)
}

func (c *redislock094Client) lock(ctx context.Context, key string, ttl time.Duration) (lease, error) {
	got, err := c.Obtain(ctx, key, ttl, &bsm094.Options{
		RetryStrategy: bsm094.LimitRetry(bsm094.LinearBackoff(redislockPause), 20),
	})
	return redislock094Lease{got, ttl}, redislock094Says(err)
}

func redislock094Says(err error) error {
	if errors.Is(err, bsm094.ErrNotObtained) {
		return errTaken
	}
	return err
}

type redislock094Lease struct {
	*bsm094.Lock
	ttl time.Duration
}

func (l redislock094Lease) extend(ctx context.Context) error {
	err := l.Refresh(ctx, l.ttl, nil)
	if errors.Is(err, bsm094.ErrNotObtained) {
		return errLost
	}
	return err
}

func (l redislock094Lease) unlock(ctx context.Context) error {
	err := l.Release(ctx)
	if errors.Is(err, bsm094.ErrLockNotHeld) {
		return errLost
	}
	return err
}

func redislock094Tells(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	got, err := cs[0].(*redislock094Client).Obtain(ctx, key(l, "tells"), plenty, &bsm094.Options{Metadata: "who I am"})
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
