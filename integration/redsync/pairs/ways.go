package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

// ttl is redsync's own default.
const ttl = 8 * time.Second

func dial(addr string, o options) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, PoolSize: o.goroutines, MinIdleConns: o.goroutines})
}

// plain locks as one does with a single Redis.
type plain struct {
	client *redis.Client
	retry  time.Duration
}

func newPlain(addr string, o options) *plain { return &plain{dial(addr, o), o.retry} }

func (p *plain) close() error { return p.client.Close() }

// releaseScript is redsync's.
var releaseScript = redis.NewScript(`
	local val = redis.call("GET", KEYS[1])
	if val == ARGV[1] then
		return redis.call("DEL", KEYS[1])
	elseif val == false then
		return -1
	else
		return 0
	end
`)

func (p *plain) lock(ctx context.Context, name string) (held, error) {
	b := make([]byte, 16)
	rand.Read(b)
	token := base64.StdEncoding.EncodeToString(b)
	for {
		won, err := p.client.SetNX(ctx, name, token, ttl).Result()
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		if won {
			return plainLock{p, name, token}, nil
		}
		time.Sleep(p.retry)
	}
}

type plainLock struct {
	*plain
	name, token string
}

func (l plainLock) unlock(ctx context.Context) error {
	deleted, err := releaseScript.Run(ctx, l.client, []string{l.name}, l.token).Int()
	if err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	if deleted != 1 {
		return fmt.Errorf("unlock is answered %d", deleted)
	}
	return nil
}

// viaRedsync locks with the library.
type viaRedsync struct {
	clients []*redis.Client
	locks   *redsync.Redsync
	retry   time.Duration
}

func newRedsync(addrs []string, o options) *viaRedsync {
	v := &viaRedsync{retry: o.retry}
	var pools []redsyncredis.Pool
	for _, addr := range addrs {
		client := dial(addr, o)
		v.clients = append(v.clients, client)
		pools = append(pools, goredis.NewPool(client))
	}
	v.locks = redsync.New(pools...)
	return v
}

func (v *viaRedsync) close() error {
	var err error
	for _, client := range v.clients {
		err = errors.Join(err, client.Close())
	}
	return err
}

func (v *viaRedsync) lock(ctx context.Context, name string) (held, error) {
	mutex := v.locks.NewMutex(name, redsync.WithExpiry(ttl), redsync.WithTries(1_000_000), redsync.WithRetryDelay(v.retry))
	if err := mutex.LockContext(ctx); err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return redsyncLock{mutex}, nil
}

type redsyncLock struct{ *redsync.Mutex }

func (l redsyncLock) unlock(ctx context.Context) error {
	if ok, err := l.UnlockContext(ctx); !ok || err != nil {
		return fmt.Errorf("unlock: %v, %w", ok, err)
	}
	return nil
}
