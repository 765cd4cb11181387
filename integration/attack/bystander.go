package main

import (
	"fmt"
	"slices"
	"time"

	"redlock-proxy/integration"
)

// bystander takes locks that nobody else wants, one after the other, and gives each
// back.
type bystander struct {
	addr   string
	client *integration.Client // nil: to be connected
	locks  int

	latencies []time.Duration
	refused   map[string]int // by what it was told
}

const (
	// pace is how long the bystander does other things between two locks.
	pace = time.Millisecond
	// patience is how long it waits for an answer. What has not come by then counts as late
	// as that, and as refused.
	patience = 2 * time.Second
)

const compareAndDelete = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"

func newBystander(addr string) *bystander {
	return &bystander{addr: addr, refused: make(map[string]int)}
}

// standBy is its life for a time.
func (b *bystander) standBy(d time.Duration) {
	defer b.leave()
	for stop := time.Now().Add(d); time.Now().Before(stop); time.Sleep(pace) {
		b.lockOnce()
	}
}

func (b *bystander) lockOnce() {
	b.locks++
	key := fmt.Sprintf("bystander:%d", b.locks)
	if b.ask("OK", "SET", key, "t", "NX", "PX", "30000") {
		b.ask(int64(1), "EVAL", compareAndDelete, "1", key, "t")
	}
}

func (b *bystander) ask(want any, args ...string) bool {
	begun := time.Now()
	reply, err := b.tell(args)
	b.latencies = append(b.latencies, time.Since(begun))
	switch {
	case err != nil:
		b.refused["no answer"]++
		b.leave()
		return false
	case reply != want:
		b.refused[brief(fmt.Sprint(reply))]++
		return false
	}
	return true
}

func (b *bystander) tell(args []string) (any, error) {
	if b.client == nil {
		c, err := dial(b.addr)
		if err != nil {
			return nil, err
		}
		b.client = c
	}
	if err := b.client.Send(args...); err != nil {
		return nil, err
	}
	return b.client.ReceiveWithin(patience)
}

func (b *bystander) leave() {
	if b.client != nil {
		b.client.Close()
		b.client = nil
	}
}

// brief is what refusals are told apart by.
func brief(text string) string { return text[:min(len(text), 60)] }

// percentile is a latency that a part of all is not above.
func percentile(latencies []time.Duration, part float64) time.Duration {
	if len(latencies) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(latencies))
	return sorted[int(part*float64(len(sorted)-1))]
}
