package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A team that may take so much, and who operates.
const bounded = `user default off
user team on >t1 ~team:* &* +@lock max-locks=5 max-ttl=20s
user hasty on >h1 ~* &* +@lock max-rate=50
user oncall on >o1 ~* &* +@all
`

// addScript is how redis-py adds to the ttl that is left. What is left is read before it is known for how long the
// lock is to last.
const addScript = `local token = redis.call('get', KEYS[1])
if not token or token ~= ARGV[1] then return 0 end
local expiration = redis.call('pttl', KEYS[1])
if not expiration then expiration = 0 end
if expiration < 0 then return 0 end
local newttl = ARGV[2]
if ARGV[3] == "0" then newttl = ARGV[2] + expiration end
redis.call('pexpire', KEYS[1], newttl)
return 1`

// wantInTime wants an answer that may take as long as it takes the proxy to look again.
func (k talk) wantInTime(want any, args ...string) {
	k.t.Helper()
	for tries := 0; ; tries++ {
		if got := k.do(args...); got == want {
			return
		} else if tries == 200 {
			k.t.Fatalf("%v: %v, want %v", args, got, want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestATeamTakesNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	_, connected := startTeams(t, masters, writeFile(t, bounded))
	team, oncall := connected("team", "t1"), connected("oncall", "o1")
	const long = 20 * time.Second

	// By ttl.
	wantDenied(t, team, acquireArgs("team:x", "t", long+time.Millisecond)...)
	wantDenied(t, team, "SET", "team:x", "t", "NX")
	wantDenied(t, team, "EVAL", "return redis.call('set', KEYS[1], 'v')", "1", "team:x")
	wantDenied(t, team, "HSET", "team:x", "f", "v")
	team.want(int64(0), "EXISTS", "team:x")
	for i := range 5 {
		team.want("OK", acquireArgs(fmt.Sprint("team:", i), "t", long)...)
	}
	wantDenied(t, team, extendArgs("team:0", "t", 2*long)...)
	team.want(int64(1), extendArgs("team:0", "t", long)...)

	// By number, whichever way it is asked for and in whatever database.
	wantDenied(t, team, acquireArgs("team:5", "t", long)...)
	wantDenied(t, team, "SET", "team:5", "t", "PX", "1000")
	team.want("OK", "MULTI")
	team.want("QUEUED", "SET", "team:5", "t", "NX", "PX", "1000")
	team.want("QUEUED", "SET", "team:6", "t", "NX", "PX", "1000")
	if text := refusal(team, "EXEC"); !strings.HasPrefix(text, "EXECABORT") {
		t.Errorf("EXEC: %s", text)
	}
	team.want("OK", "SELECT", "1")
	wantDenied(t, team, acquireArgs("team:5", "t", long)...)
	oncall.want("OK", "SELECT", "1")
	oncall.want("OK", acquireArgs("team:theirs", "t", long)...)
	time.Sleep(150 * time.Millisecond) // or masters would not be asked again for those of the other database
	wantDenied(t, team, "EVAL", addScript, "1", "team:theirs", "t", "10", "0")
	oncall.want(int64(1), "DEL", "team:theirs")
	oncall.want("OK", "SELECT", "0")
	team.want("OK", "SELECT", "0")
	team.want(int64(0), "EXISTS", "team:5", "team:6")
	told := fmt.Sprint(oncall.do("ACL", "GETUSER", "team"))
	if !strings.Contains(told, "limits max-ttl=20s max-locks=5 locks 5") {
		t.Errorf("ACL GETUSER: %s", told)
	}

	// What is free counts no more, whoever freed it: he himself, another user, a script, nobody.
	team.want(int64(1), releaseArgs("team:0", "t")...)
	team.want("OK", acquireArgs("team:5", "t", long)...)
	oncall.want(int64(1), "DEL", "team:1")
	team.wantInTime("OK", acquireArgs("team:6", "t", 500*time.Millisecond)...)
	team.wantInTime("OK", acquireArgs("team:7", "t", long)...)
	team.want(int64(1), "EVAL", "redis.call('publish', KEYS[1], 'free') return redis.call('del', KEYS[1])", "1", "team:2")
	team.wantInTime("OK", acquireArgs("team:8", "t", long)...)
	for _, m := range masters {
		ask(t, m, "DEL", "team:3")
	}
	team.wantInTime("OK", acquireArgs("team:9", "t", long)...)
	wantDenied(t, team, acquireArgs("team:10", "t", long)...)

	// A bound that is taken away is one no more.
	oncall.want("OK", "ACL", "SETUSER", "team", "max-locks=0", "max-ttl=0")
	team.want("OK", "SET", "team:10", "t", "NX")
	log := fmt.Sprint(oncall.do("ACL", "LOG", "100"))
	if !strings.Contains(log, "reason limit") || !strings.Contains(log, "object team:10") {
		t.Errorf("ACL LOG: %s", log)
	}
}

// Many at once, that take, free, let others free and let expire: a user never holds more than he may, as those know
// who hold them. And all that he may he gets.
func TestTheNumberOfLocksIsExactForMany(t *testing.T) {
	t.Parallel()
	const most, clients, rounds = 5, 24, 60
	masters := startMasters(t, 3)
	_, connected := startTeams(t, masters, writeFile(t, bounded))
	var held, highest, granted, denied atomic.Int64
	var wait sync.WaitGroup
	for i := range clients {
		team, oncall := connected("team", "t1"), connected("oncall", "o1")
		random := rand.New(rand.NewPCG(uint64(i), 17))
		wait.Go(func() {
			for round := range rounds {
				key, token, ttl := fmt.Sprint("team:", random.IntN(12)), fmt.Sprint(i, " ", round), 15*time.Second
				expires := random.IntN(4) == 0
				if expires {
					ttl = 200 * time.Millisecond
				}
				asked := time.Now()
				reply, err := team.Do(acquireArgs(key, token, ttl)...)
				if f, is := reply.(Failure); is && strings.Contains(string(f), "max-locks") {
					denied.Add(1)
				} else if err != nil {
					t.Error(err)
					return
				}
				if reply != "OK" {
					time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
					continue
				}
				granted.Add(1)
				now := held.Add(1)
				for high := highest.Load(); now > high && !highest.CompareAndSwap(high, now); high = highest.Load() {
				}
				if expires {
					time.Sleep(time.Until(asked.Add(ttl - ttl/10)))
					held.Add(-1)
					continue
				}
				time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
				held.Add(-1)
				if random.IntN(3) == 0 {
					_, err = oncall.Do("DEL", key)
				} else {
					_, err = team.Do(releaseArgs(key, token)...)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	t.Logf("%d locks were granted, %d refused for being too many, %d held at once", granted.Load(), denied.Load(), highest.Load())
	if highest.Load() > most || denied.Load() == 0 || granted.Load() < clients {
		t.Errorf("at most %d locks were held at once, %d granted, %d refused", highest.Load(), granted.Load(), denied.Load())
	}
	team := connected("team", "t1")
	for i := range most {
		team.wantInTime("OK", acquireArgs(fmt.Sprint("team:last", i), "t", 15*time.Second)...)
	}
	wantDenied(t, team, acquireArgs("team:more", "t", time.Second)...)
}

// Whoever sends faster than he may is slowed down, over all his connections, and others are not.
func TestRateIsKept(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 1)
	p, connected := startTeams(t, masters, writeFile(t, bounded))
	began := time.Now()
	var wait sync.WaitGroup
	for i := range 4 {
		hasty := connected("hasty", "h1")
		wait.Go(func() {
			for round := range 25 {
				if _, err := hasty.Do(acquireArgs(fmt.Sprint("h", i), fmt.Sprint(round), ttl)...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	// 100 commands at 50 a second, of which the first 5 come at once.
	if took := time.Since(began); took < 1900*time.Millisecond {
		t.Errorf("100 commands at 50 a second took %v", took)
	}
	if info := connected("oncall", "o1").text("INFO", "stats"); strings.Contains(info, "commands_delayed:0\r\n") {
		t.Errorf("INFO stats of %s: %s", p.Addr, info)
	}
}
