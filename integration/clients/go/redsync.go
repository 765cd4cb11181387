package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	rueidispool "github.com/go-redsync/redsync/v4/redis/rueidis"
	redigolib "github.com/gomodule/redigo/redis"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
)

const redsyncModule = "github.com/go-redsync/redsync/v4"

var redsyncOverGoRedis = library{
	name:   "redsync/go-redis",
	module: redsyncModule,
	connect: func(addr string) (client, error) {
		c := redis.NewClient(&redis.Options{Addr: addr})
		return &redsyncClient{redsync.New(goredis.NewPool(c)), c.Close}, nil
	},
	also: []scenario{{"extend that takes again", extendTakesAgain}},
}

var redsyncOverRedigo = library{
	name:   "redsync/redigo",
	module: redsyncModule,
	connect: func(addr string) (client, error) {
		pool := &redigolib.Pool{
			MaxIdle:     3,
			IdleTimeout: 240 * time.Second,
			Dial:        func() (redigolib.Conn, error) { return redigolib.Dial("tcp", addr) },
		}
		return &redsyncClient{redsync.New(redigo.NewPool(pool)), pool.Close}, nil
	},
	also: []scenario{{"extend that takes again", extendTakesAgain}},
}

var redsyncOverRueidis = library{
	name:   "redsync/rueidis",
	module: redsyncModule,
	connect: func(addr string) (client, error) {
		c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}})
		if err != nil {
			return nil, err
		}
		end := func() error { c.Close(); return nil }
		return &redsyncClient{redsync.New(rueidispool.NewPool(rueidiscompat.NewAdapter(c))), end}, nil
	},
	also: []scenario{{"extend that takes again", extendTakesAgain}},
}

type redsyncClient struct {
	locks *redsync.Redsync
	end   func() error
}

func (c *redsyncClient) close() error { return c.end() }

// mutex has more time for an answer than a twentieth of its ttl, as a crowded
// machine may need that.
func (c *redsyncClient) mutex(key string, ttl time.Duration, more ...redsync.Option) *redsync.Mutex {
	return c.locks.NewMutex(key, append(more, redsync.WithExpiry(ttl), redsync.WithTimeoutFactor(0.25))...)
}

func (c *redsyncClient) try(ctx context.Context, key string, ttl time.Duration) (lease, error) {
	m := c.mutex(key, ttl)
	return redsyncLease{m}, redsyncSays(m.TryLockContext(ctx))
}

func (c *redsyncClient) lock(ctx context.Context, key string, ttl time.Duration) (lease, error) {
	m := c.mutex(key, ttl)
	return redsyncLease{m}, redsyncSays(m.LockContext(ctx))
}

func redsyncSays(err error) error {
	var taken *redsync.ErrTaken
	if errors.As(err, &taken) {
		return errTaken
	}
	return err
}

type redsyncLease struct{ *redsync.Mutex }

func (l redsyncLease) extend(ctx context.Context) error { return redsyncAgrees(l.ExtendContext(ctx)) }
func (l redsyncLease) unlock(ctx context.Context) error { return redsyncAgrees(l.UnlockContext(ctx)) }

func redsyncAgrees(ok bool, err error) error {
	var taken *redsync.ErrTaken
	switch {
	case ok:
		return nil
	case errors.As(err, &taken), errors.Is(err, redsync.ErrLockAlreadyExpired):
		return errLost
	case err == nil:
		return errors.New("no, and no reason")
	}
	return err
}

// extendTakesAgain: with WithSetNXOnExtend, a lock that is nobody's any more is
// had again by extending it, and one that is another's is not.
func extendTakesAgain(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 2)
	if err != nil {
		return err
	}
	defer closeAll()
	key := key(l, "again")
	m := redsyncLease{cs[0].(*redsyncClient).mutex(key, plenty, redsync.WithSetNXOnExtend())}
	if err := m.LockContext(ctx); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if err := m.extend(ctx); err != nil {
		return fmt.Errorf("extend: %w", err)
	}
	if err := m.unlock(ctx); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	if err := m.extend(ctx); err != nil {
		return fmt.Errorf("extend what is free: %w", err)
	}
	if err := held(ctx, cs[1], key); err != nil {
		return err
	}
	if err := m.unlock(ctx); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	other, err := cs[1].try(ctx, key, plenty)
	if err != nil {
		return fmt.Errorf("take what is free: %w", err)
	}
	if err := m.extend(ctx); !errors.Is(err, errLost) {
		return fmt.Errorf("extend what is another's: %v", err)
	}
	return other.unlock(ctx)
}
