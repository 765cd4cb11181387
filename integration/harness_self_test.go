package integration

import (
	"bytes"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestHarnessRedisLivesAndDiesAsTold(t *testing.T) {
	t.Parallel()
	r := startMaster(t, RedisOptions{Password: "p w"})
	direct(t, r).want("OK", "SET", "k", "v")

	must(t, r.Freeze())
	c, err := Dial(r.Addr)
	must(t, err)
	defer c.Close()
	must(t, c.Send("AUTH", "p w"))
	if reply, err := c.ReceiveWithin(50 * time.Millisecond); err == nil {
		t.Fatalf("a frozen server answered %v", reply)
	}
	must(t, r.Thaw())
	direct(t, r).want("v", "GET", "k")

	must(t, r.Kill())
	if _, err := Dial(r.Addr); err == nil {
		t.Fatal("a killed server accepts")
	}
	must(t, r.Restart())
	direct(t, r).want(nil, "GET", "k")
}

func TestHarnessRedisSpeaksUnixSocketsAndTLS(t *testing.T) {
	t.Parallel()
	certificates, err := NewCertificates(t.TempDir())
	must(t, err)
	for _, o := range []RedisOptions{{Unix: true}, {TLS: certificates, Password: "secret"}} {
		direct(t, startMaster(t, o)).want("PONG", "PING")
	}
}

func TestHarnessClientReadsEveryType(t *testing.T) {
	t.Parallel()
	c := direct(t, startMaster(t, RedisOptions{}))
	if _, ok := c.do("HELLO", "3").(Map); !ok {
		t.Fatal("HELLO 3 is no map")
	}
	c.want(nil, "GET", "none")
	c.want(7, "INCRBY", "n", "7")
	c.want(true, "EVAL", "redis.setresp(3); return true", "0")
	c.want([]any{int64(1), "a"}, "EVAL", "return {1, 'a'}", "0")
	c.want(Failure("ERR no"), "EVAL", "return redis.error_reply('no')", "0")
}

func TestHarnessRelaySpoilsWhatPasses(t *testing.T) {
	t.Parallel()
	m := startMaster(t, RedisOptions{})
	relay := startRelay(t, m.Addr)
	c := dial(t, relay.Addr)
	c.want("OK", "SET", "k", "v")

	relay.Requests.Hold()
	c.send("SET", "late", "1")
	c.Close()
	time.Sleep(20 * time.Millisecond)
	direct(t, m).want(0, "EXISTS", "late")
	relay.Requests.Release()
	wantHolding(t, []*Redis{m}, "late", "1", 0)

	c = dial(t, relay.Addr)
	relay.Replies.Rewrite(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("+"), []byte("-")) })
	c.want(Failure("PONG"), "PING")
	relay.Replies.Rewrite(nil)
	relay.Replies.Delay(30 * time.Millisecond)
	start := time.Now()
	c.want("PONG", "PING")
	if time.Since(start) < 30*time.Millisecond {
		t.Fatal("a delayed reply came at once")
	}

	relay.Cut()
	if _, err := c.Do("PING"); err == nil {
		t.Fatal("a cut connection answers")
	}
	if c, err := Dial(relay.Addr); err == nil {
		if _, err := c.Do("PING"); err == nil {
			t.Fatal("a connection through a cut relay answers")
		}
		c.Close()
	}
	relay.Restore()
	relay.Replies.Delay(0)
	dial(t, relay.Addr).want("PONG", "PING")
}

// TestPeakOfMemoryIsForgotten, and is that of the time since.
func TestPeakOfMemoryIsForgotten(t *testing.T) {
	t.Parallel()
	pid := os.Getpid()
	large, err := syscall.Mmap(-1, 0, 128<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	must(t, err)
	for i := 0; i < len(large); i += os.Getpagesize() {
		large[i] = 1
	}
	must(t, syscall.Munmap(large))
	before, err := PeakResidentBytes(pid)
	must(t, err)
	must(t, ForgetPeak(pid))
	after, err := PeakResidentBytes(pid)
	must(t, err)
	now, err := ResidentBytes(pid)
	must(t, err)
	if before < 128<<20 || after > before-64<<20 || after < now/2 {
		t.Errorf("the peak was %d MiB, and is %d once it is forgotten, of %d now", before>>20, after>>20, now>>20)
	}
}
