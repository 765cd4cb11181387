package main

import "errors"

// tryLock is Redisson's script, as RedissonLock.tryLockInnerAsync sends it.
var tryLock = []string{"EVAL",
	"if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then " +
		"redis.call('hincrby', KEYS[1], ARGV[2], 1); " +
		"redis.call('pexpire', KEYS[1], ARGV[1]); " +
		"return nil; " +
		"end; " +
		"return redis.call('pttl', KEYS[1]);",
	"1", "lock:__rand_int__", "30000", "8f3c5e1e-77a5-4f0e-8a2f-7c1c2f3d4e5f:1"}

// journalTrial: the masters keep an undo record of what the script writes, and
// the Redis asked directly runs it as it is.
func journalTrial(b *bench, r *report) (err error) {
	h, err := b.house(plan{masters: b.masters})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	f := &flood{shape: shape{50, 16}, command: tryLock}
	direct, proxy := h.asked(f.at(h.direct.Addr)), h.through(f.at(h.proxy.Addr))
	direct.prepare, proxy.prepare = h.blank, h.blank
	if err := b.turns(direct, proxy); err != nil {
		return err
	}
	r.add(line{"journal", "Redisson's `tryLock`, journaled, beside direct, c50 P16", b.goal(.15, .25), proxy.beside(direct, throughput), ""})
	r.addFigures("journal", direct, proxy)
	return nil
}
