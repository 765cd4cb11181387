package integration

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	differSeed     = flag.Uint64("seed", 1, "seed of the random conversations; 0 takes a new one for each run")
	differCommands = flag.Int("commands", 16000, "how many random commands Redis and the proxy are both asked")
)

// talkLength is how many commands a random conversation has.
const talkLength = 40

// TestRandomCommandsAreAnsweredAsByRedis holds random conversations with one real Redis,
// with a proxy over one master, and with one over three, side by side: what they answer
// must be the same byte for byte, but for what differences allows.
func TestRandomCommandsAreAnsweredAsByRedis(t *testing.T) {
	t.Parallel()
	seed := *differSeed
	if seed == 0 {
		seed = rand.Uint64N(1e9) + 1
	}
	real := startMaster(t, RedisOptions{Server: Installed})
	secured := startMaster(t, RedisOptions{Server: Installed, Password: "s3cret"})
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprintf("proxy over %d", n), func(t *testing.T) {
			options := append([]string{"--redis-version", "7.0.15", "--user", "default on nopass ~* &* +@all"}, unhurried...)
			masters, p := startQuorum(t, n, options...)
			securedProxy := sync.OnceValue(func() string {
				args := append(append(flags(masters), options...), "--requirepass", "s3cret")
				return launch(t, ProxyOptions{Args: append(slices.Clone(patient), args...)}).Addr
			})
			asked := 0
			for i := uint64(0); asked < *differCommands/2 && !t.Failed(); i++ {
				r := rand.New(rand.NewPCG(seed+i, uint64(n)))
				addrs, password := [2]string{p.Addr, real.Addr}, r.IntN(10) == 0
				if password {
					addrs = [2]string{securedProxy(), secured.Addr}
				}
				servers := append([]*Redis{real, secured}, masters...)
				emptied(t, addrs[0], password, servers)
				steps := randomSteps(r, talkLength, password)
				wrong, took := converseTwice(t, addrs, steps)
				if asked += took; wrong != "" {
					steps, wrong = shortened(t, addrs, steps[:took], wrong, func() { emptied(t, addrs[0], password, servers) })
					t.Errorf("%s%s\nrepeat with: go test ./integration -run '^TestRandomCommandsAreAnsweredAsByRedis$' -seed %d -commands 80",
						listed(steps), wrong, seed+i)
				}
			}
			t.Logf("%d commands, from seed %d", asked, seed)
		})
	}
}

// stepOf is one thing that one of some clients sends: a command, or bytes that are none.
type stepOf struct {
	client int
	args   []string
	inline bool
	raw    string
	last   bool // what follows depends on the time
	behind bool // it is sent together with the step before, if that is the same client's
}

func (s stepOf) bytes() []byte {
	switch {
	case s.raw != "":
		return []byte(s.raw)
	case s.inline:
		return []byte(strings.Join(s.args, " ") + "\r\n")
	}
	return Encode(s.args...)
}

func listed(steps []stepOf) string {
	var b strings.Builder
	for _, s := range steps {
		if s.raw != "" {
			fmt.Fprintf(&b, "%d> raw %q\n", s.client, s.raw)
			continue
		}
		fmt.Fprintf(&b, "%d> %q%s\n", s.client, s.args, map[bool]string{true: " together with that"}[s.behind])
	}
	return b.String()
}

// together is how many of the steps are sent at once.
func together(steps []stepOf) int {
	n := 1
	for n < len(steps) && steps[n].behind && steps[n].client == steps[0].client {
		n++
	}
	return n
}

// converseTwice holds one conversation with both. It tells the first difference that is
// not allowed, and how many steps were taken.
func converseTwice(t *testing.T, addrs [2]string, steps []stepOf) (wrong string, taken int) {
	t.Helper()
	began := time.Now()
	pairs := make(map[int]*pair)
	defer func() {
		for _, p := range pairs {
			p.close()
		}
	}()
	for i, sent := 0, 0; i < len(steps); i++ {
		s := steps[i]
		p := pairs[s.client]
		if p == nil {
			p = newPair(t, addrs)
			pairs[s.client] = p
		}
		if i == sent {
			sent += together(steps[i:])
			if err := p.send(steps[i:sent]); err != nil {
				return err.Error(), sent
			}
		}
		replies, err := p.hear(s)
		if err != nil {
			return err.Error(), sent
		}
		over := s.last
		for j := range replies[0] {
			x := &exchange{args: s.args, ours: replies[0][j], theirs: replies[1][j], client: p, lasted: time.Since(began)}
			same, ends := x.compare()
			if !same {
				return fmt.Sprintf("%q\nthe proxy: %q\nRedis:     %q", s.args, x.ours.Raw, x.theirs.Raw), sent
			}
			over = over || ends
		}
		p.follow(s.args, replies[1])
		if over {
			p.await(sent - i - 1)
			return "", sent
		}
		if last := replies[1][len(replies[1])-1]; last.Kind == 0 {
			p.close()
			delete(pairs, s.client)
		}
	}
	return "", len(steps)
}

// compare tells whether two replies are the same or may differ, and whether the
// conversation ends with that.
func (x *exchange) compare() (same, ends bool) {
	if x.ours.Raw == x.theirs.Raw {
		return true, false
	}
	for _, d := range differences {
		if d.is != nil && d.is(x) {
			return true, d.ends
		}
	}
	if !x.is("exec") || len(x.ours.Elems) != len(x.client.queued) || len(x.theirs.Elems) != len(x.client.queued) {
		return false, false
	}
	for i, args := range x.client.queued {
		one := &exchange{args: args, ours: x.ours.Elems[i], theirs: x.theirs.Elems[i], client: x.client, lasted: x.lasted}
		same, end := one.compare()
		if !same {
			return false, false
		}
		ends = ends || end
	}
	return true, ends
}

// shortened leaves out of a conversation the steps without which something is wrong with it
// as well.
func shortened(t *testing.T, addrs [2]string, steps []stepOf, wrong string, empty func()) ([]stepOf, string) {
	if strings.Contains(wrong, "does not answer") {
		return steps, wrong // which takes long each time
	}
	for i := len(steps) - 2; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(steps), i, i+1)
		empty()
		if still, took := converseTwice(t, addrs, fewer); still != "" {
			steps, wrong = fewer[:took], still
			i = min(i, len(steps)-1)
		}
	}
	return steps, wrong
}

// emptied takes every key from the servers, once the proxy has done with what it was asked
// before. The masters keep its scripts: their loss is another test's.
func emptied(t *testing.T, proxy string, password bool, servers []*Redis) {
	t.Helper()
	c := dial(t, proxy)
	defer c.Close()
	if password {
		c.want("OK", "AUTH", "s3cret")
	}
	for _, db := range []string{"1", "2", "15", "0"} {
		c.want("OK", "SELECT", db)
		c.want("OK", "FLUSHDB")
	}
	for _, s := range servers {
		direct(t, s).want("OK", "EVAL", emptyAll, "1", "redlock-proxy:{marker}")
	}
}
