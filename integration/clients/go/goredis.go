package main

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/redis/go-redis/v9"
)

const goRedisModule = "github.com/redis/go-redis/v9"

// goRedis is no lock library. Programs lock with it as Redis's own
// documentation shows.
var goRedis = library{
	name:   "go-redis/RESP3",
	module: goRedisModule,
	connect: func(addr string) (client, error) {
		return &goRedisClient{redis.NewClient(&redis.Options{Addr: addr})}, nil
	},
}

var goRedis2 = library{
	name:   "go-redis/RESP2",
	module: goRedisModule,
	connect: func(addr string) (client, error) {
		return &goRedisClient{redis.NewClient(&redis.Options{Addr: addr, Protocol: 2})}, nil
	},
}

var (
	compareAndDelete = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("DEL", KEYS[1])
else
	return 0
end`)
	compareAndExpire = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("PEXPIRE", KEYS[1], ARGV[2])
else
	return 0
end`)
)

type goRedisClient struct{ *redis.Client }

func (c *goRedisClient) close() error { return c.Close() }

func (c *goRedisClient) try(ctx context.Context, key string, ttl time.Duration) (lease, error) {
	l := &goRedisLease{c.Client, key, rand.Text(), ttl}
	switch ok, err := c.SetNX(ctx, key, l.token, ttl).Result(); {
	case err != nil:
		return nil, err
	case !ok:
		return nil, errTaken
	}
	return l, nil
}

// lock is a try and a pause, as this is no lock library.
func (c *goRedisClient) lock(ctx context.Context, key string, ttl time.Duration) (lease, error) {
	got, err := c.try(ctx, key, ttl)
	if err == errTaken {
		time.Sleep(50 * time.Millisecond)
	}
	return got, err
}

type goRedisLease struct {
	client     *redis.Client
	key, token string
	ttl        time.Duration
}

func (l *goRedisLease) extend(ctx context.Context) error {
	return yes(compareAndExpire.Run(ctx, l.client, []string{l.key}, l.token, l.ttl.Milliseconds()).Int())
}

func (l *goRedisLease) unlock(ctx context.Context) error {
	return yes(compareAndDelete.Run(ctx, l.client, []string{l.key}, l.token).Int())
}

func yes(n int, err error) error {
	if err == nil && n != 1 {
		return errLost
	}
	return err
}
