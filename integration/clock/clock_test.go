package clock

import (
	"strconv"
	"testing"
	"time"

	"redlock-proxy/integration"
)

// server is a real redis-server that lives by a clock.
type server struct {
	t     *testing.T
	redis *integration.Redis
	clock *Clock
	talk  *integration.Client
}

func start(t *testing.T) *server {
	t.Helper()
	dir := t.TempDir()
	library, err := Build(dir)
	must(t, err)
	c, err := New(library, dir)
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	r, err := integration.StartRedis(integration.RedisOptions{Env: c.Env()})
	must(t, err)
	t.Cleanup(func() { must(t, r.Stop()) })
	s := &server{t: t, redis: r, clock: c}
	s.dial()
	return s
}

func (s *server) dial() {
	s.t.Helper()
	talk, err := s.redis.Dial()
	must(s.t, err)
	s.t.Cleanup(func() { talk.Close() })
	s.talk = talk
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *server) do(args ...string) any {
	s.t.Helper()
	reply, err := s.talk.Do(args...)
	must(s.t, err)
	return reply
}

func (s *server) want(want any, args ...string) {
	s.t.Helper()
	if got := s.do(args...); got != want {
		s.t.Fatalf("%q: got %#v, want %#v", args, got, want)
	}
}

// ahead is by how much the server's TIME is ahead of this machine's, at least and at most.
func (s *server) ahead() (least, most time.Duration) {
	s.t.Helper()
	before := time.Now()
	reply := s.do("TIME").([]any)
	after := time.Now()
	seconds, err := strconv.ParseInt(reply[0].(string), 10, 64)
	must(s.t, err)
	micros, err := strconv.ParseInt(reply[1].(string), 10, 64)
	must(s.t, err)
	then := time.Unix(seconds, micros*1000)
	return then.Sub(after), then.Sub(before)
}

// wantAhead holds that to a tenth of a second.
func (s *server) wantAhead(want time.Duration) {
	s.t.Helper()
	const tenth = 100 * time.Millisecond
	if least, most := s.ahead(); least > want+tenth || most < want-tenth {
		s.t.Fatalf("TIME is between %v and %v ahead, want %v", least, most, want)
	}
}

func TestTimeJumps(t *testing.T) {
	s := start(t)
	s.wantAhead(0)
	s.clock.Jump(time.Hour)
	s.wantAhead(time.Hour)
	s.clock.Jump(-3 * time.Hour)
	s.wantAhead(-2 * time.Hour)
	s.clock.Set(0)
	s.wantAhead(0)
}

func TestKeysExpireEarlyWhenTheClockJumpsForward(t *testing.T) {
	s := start(t)
	s.want("OK", "SET", "k", "v", "PX", "60000")
	s.want("OK", "SET", "longer", "v", "PX", "90000")
	s.clock.Jump(75 * time.Second)
	s.want(nil, "GET", "k")
	s.want("v", "GET", "longer")
	if left := s.do("PTTL", "longer").(int64); left > 15_000 || left < 5_000 {
		t.Errorf("%d ms are left, want 15000 or a little less", left)
	}
}

func TestKeysLiveLongerWhenTheClockJumpsBack(t *testing.T) {
	s := start(t)
	s.want("OK", "SET", "k", "v", "PX", "60000")
	s.clock.Jump(-time.Hour)
	if left := s.do("PTTL", "k").(int64); left < 3_600_000 {
		t.Errorf("%d ms are left, want an hour more than a minute", left)
	}
}

// TestAbsoluteExpiriesAreTheJumpedClocks: PEXPIREAT means the clock that TIME
// tells, wherever that is.
func TestAbsoluteExpiriesAreTheJumpedClocks(t *testing.T) {
	s := start(t)
	s.clock.Set(time.Hour)
	s.want("OK", "SET", "k", "v")
	s.want("OK", "SET", "gone", "v")
	at := func(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).UnixMilli(), 10) }
	s.want(int64(1), "PEXPIREAT", "k", at(time.Hour+time.Minute))
	s.want(int64(1), "PEXPIREAT", "gone", at(time.Minute))
	s.want(nil, "GET", "gone")
	if left := s.do("PTTL", "k").(int64); left > 60_000 || left < 50_000 {
		t.Errorf("%d ms are left, want 60000 or a little less", left)
	}
}

// TestClockOutlivesTheServer: a machine whose clock is wrong does not get it
// right because Redis starts anew.
func TestClockOutlivesTheServer(t *testing.T) {
	s := start(t)
	s.clock.Set(-time.Hour)
	must(t, s.redis.Kill())
	must(t, s.redis.Restart())
	s.dial()
	s.wantAhead(-time.Hour)
}
