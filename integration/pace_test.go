package integration

import (
	"sync"
	"testing"
	"time"
)

// What is to take no longer than a time takes longer on a machine that is busy with other
// things, and no bound is right for all machines. So it is told in the same run by how much
// a bare redis-server is late, of which nothing is asked that could keep it waiting.

// reference is that server, started for the first test that measures.
var reference struct {
	once  sync.Once
	redis *Redis
	err   error
}

func endReference() {
	if r := reference.redis; r != nil {
		_ = r.Stop()
	}
}

// beat is the rest between two questions to the reference.
const beat = 5 * time.Millisecond

// lateness asks the reference again and again, until told is called: by so much did rests
// and answers last longer altogether than the rests were to.
func lateness(t *testing.T) (told func() time.Duration) {
	t.Helper()
	reference.once.Do(func() { reference.redis, reference.err = StartRedis(RedisOptions{}) })
	must(t, reference.err)
	c := direct(t, reference.redis)
	stop, late := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		var sum time.Duration
		for {
			begun := time.Now()
			time.Sleep(beat)
			_, err := c.Do("PING")
			sum += time.Since(begun) - beat
			select {
			case <-stop:
				late <- sum
				return
			default:
			}
			if err != nil {
				late <- sum // the test has ended without asking
				return
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		defer c.Close()
		return <-late
	}
}

// took holds that an answer came within a time, but for what the reference was late
// meanwhile.
func took(t *testing.T, within time.Duration, what func()) {
	t.Helper()
	late := lateness(t)
	start := time.Now()
	what()
	d := time.Since(start)
	if by := late(); d > within+by {
		t.Fatalf("took %v, want at most %v, and %v by which a bare Redis was late meanwhile", d, within, by)
	}
}
