package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// scenario is something that a lock is asked to do, on a key that nobody else uses.
type scenario struct {
	name string
	run  func(ctx context.Context, l library, addr string) error
}

const (
	plenty = 20 * time.Second // a ttl that does not end meanwhile
	short  = time.Second      // one that does
)

var scenarios = []scenario{
	{"lock and unlock", lockAndUnlock},
	{"two contenders, one wins", oneWins},
	{"release by a stranger is refused", strangerIsRefused},
	{"extend", extend},
	{"expiry frees it", expiryFrees},
}

var noScript = scenario{"NOSCRIPT", scriptsAreLost}

// key is one that no other library and no other scenario uses.
func key(l library, of string) string { return l.name + ":" + l.version() + ":" + of }

// contenders gives n clients, and what closes them.
func contenders(l library, addr string, n int) ([]client, func(), error) {
	var all []client
	closeAll := func() {
		for _, c := range all {
			_ = c.close()
		}
	}
	for range n {
		c, err := l.connect(addr)
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("connect: %w", err)
		}
		all = append(all, c)
	}
	return all, closeAll, nil
}

// held is nil if c finds that another has the lock.
func held(ctx context.Context, c client, key string) error {
	got, err := c.try(ctx, key, plenty)
	if err == nil {
		return errors.Join(errors.New("it could be taken while it was held"), got.unlock(ctx))
	}
	if !errors.Is(err, errTaken) {
		return fmt.Errorf("take what is held: %w", err)
	}
	return nil
}

// free is nil if c can take the lock, and give it back.
func free(ctx context.Context, c client, key string) error {
	got, err := c.try(ctx, key, plenty)
	if err != nil {
		return fmt.Errorf("take what is free: %w", err)
	}
	if err := got.unlock(ctx); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	return nil
}

func lockAndUnlock(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 2)
	if err != nil {
		return err
	}
	defer closeAll()
	key := key(l, "plain")
	got, err := cs[0].lock(ctx, key, plenty)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if err := held(ctx, cs[1], key); err != nil {
		return err
	}
	if err := got.unlock(ctx); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	if err := got.unlock(ctx); !errors.Is(err, errLost) {
		return fmt.Errorf("unlock once more: %v", err)
	}
	return free(ctx, cs[1], key)
}

func oneWins(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 2)
	if err != nil {
		return err
	}
	defer closeAll()
	key := key(l, "two")
	type outcome struct {
		lease
		err error
	}
	first := make(chan outcome, 1)
	go func() {
		got, err := cs[0].try(ctx, key, plenty)
		first <- outcome{got, err}
	}()
	got, err := cs[1].try(ctx, key, plenty)
	one, two := <-first, outcome{got, err}
	winner, loser, other := one, two, cs[1]
	if one.err != nil {
		winner, loser, other = two, one, cs[0]
	}
	if winner.err != nil || !errors.Is(loser.err, errTaken) {
		return fmt.Errorf("one got %v, the other %v", one.err, two.err)
	}
	if err := held(ctx, other, key); err != nil {
		return err
	}
	if err := winner.unlock(ctx); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	return free(ctx, other, key)
}

// strangerIsRefused has a holder that was too slow: the lock is another's by
// the time that it releases and extends it.
func strangerIsRefused(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 3)
	if err != nil {
		return err
	}
	defer closeAll()
	key := key(l, "stranger")
	slow, err := cs[0].lock(ctx, key, short)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	owner, err := cs[1].lock(ctx, key, plenty)
	for errors.Is(err, errTaken) && ctx.Err() == nil {
		owner, err = cs[1].lock(ctx, key, plenty)
	}
	if err != nil {
		return fmt.Errorf("lock after it: %w", err)
	}
	if err := slow.unlock(ctx); !errors.Is(err, errLost) {
		return fmt.Errorf("a stranger's release: %v", err)
	}
	if err := slow.extend(ctx); !errors.Is(err, errLost) {
		return fmt.Errorf("a stranger's extend: %v", err)
	}
	if err := held(ctx, cs[2], key); err != nil {
		return err
	}
	if err := owner.unlock(ctx); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	return nil
}

func extend(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 2)
	if err != nil {
		return err
	}
	defer closeAll()
	const ttl = 2 * time.Second
	key := key(l, "extend")
	got, err := cs[0].lock(ctx, key, ttl)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	for range 2 {
		time.Sleep(ttl * 6 / 10)
		if err := got.extend(ctx); err != nil {
			return fmt.Errorf("extend: %w", err)
		}
	}
	if err := held(ctx, cs[1], key); err != nil {
		return fmt.Errorf("past its first ttl: %w", err)
	}
	if err := got.unlock(ctx); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	if err := got.extend(ctx); !errors.Is(err, errLost) {
		return fmt.Errorf("extend what was released: %v", err)
	}
	return free(ctx, cs[1], key)
}

func expiryFrees(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 2)
	if err != nil {
		return err
	}
	defer closeAll()
	key := key(l, "expiry")
	begun := time.Now()
	if _, err := cs[0].lock(ctx, key, short); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	for {
		got, err := cs[1].try(ctx, key, plenty)
		after := time.Since(begun)
		switch {
		case err == nil && after < short:
			return fmt.Errorf("free after %v of %v", after, short)
		case err == nil:
			return got.unlock(ctx)
		case !errors.Is(err, errTaken):
			return err
		case after > 5*short:
			return fmt.Errorf("not free after %v", after)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// scriptsAreLost between every two things that a library does with one.
func scriptsAreLost(ctx context.Context, l library, addr string) error {
	cs, closeAll, err := contenders(l, addr, 2)
	if err != nil {
		return err
	}
	defer closeAll()
	admin := redis.NewClient(&redis.Options{Addr: addr})
	defer admin.Close()
	flush := func() error { return admin.ScriptFlush(ctx).Err() }

	key := key(l, "noscript")
	if err := flush(); err != nil {
		return err
	}
	got, err := cs[0].lock(ctx, key, plenty)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if err := flush(); err != nil {
		return err
	}
	if err := got.extend(ctx); err != nil {
		return fmt.Errorf("extend: %w", err)
	}
	if err := held(ctx, cs[1], key); err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	if err := got.unlock(ctx); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	return free(ctx, cs[1], key)
}
