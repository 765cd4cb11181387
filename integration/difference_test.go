package integration

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
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
			options := []string{"--redis-version", "7.0.15", "--allow-dangerous", "yes"}
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
		fmt.Fprintf(&b, "%d> %q\n", s.client, s.args)
	}
	return b.String()
}

// pair is one client's connections to the proxy and to Redis, and what is known of it.
type pair struct {
	conns   [2]net.Conn
	readers [2]*bufio.Reader

	proto              int
	channels, patterns map[string]bool
	queued             [][]string // since MULTI; nil outside
	watches            bool
	misnamed           bool // by a HELLO that was refused
}

func newPair(t *testing.T, addrs [2]string) *pair {
	t.Helper()
	p := &pair{proto: 2, channels: make(map[string]bool), patterns: make(map[string]bool)}
	for i, addr := range addrs {
		conn, err := net.Dial("tcp", addr)
		must(t, err)
		p.conns[i], p.readers[i] = conn, bufio.NewReader(conn)
		must(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	}
	return p
}

func (p *pair) close() {
	for _, c := range p.conns {
		c.Close()
	}
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
	for i, s := range steps {
		p := pairs[s.client]
		if p == nil {
			p = newPair(t, addrs)
			pairs[s.client] = p
		}
		replies, err := p.ask(s)
		if err != nil {
			return err.Error(), i + 1
		}
		over := s.last
		for j := range replies[0] {
			x := &exchange{args: s.args, ours: replies[0][j], theirs: replies[1][j], client: p, lasted: time.Since(began)}
			same, ends := x.compare()
			if !same {
				return fmt.Sprintf("the proxy: %q\nRedis:     %q", x.ours.Raw, x.theirs.Raw), i + 1
			}
			over = over || ends
		}
		p.follow(s.args, replies[1])
		if over {
			return "", i + 1
		}
		if last := replies[1][len(replies[1])-1]; last.Kind == 0 {
			p.close()
			delete(pairs, s.client)
		}
	}
	return "", len(steps)
}

// ask sends a step to both, and reads all that is answered.
func (p *pair) ask(s stepOf) (replies [2][]RawReply, err error) {
	for _, c := range p.conns {
		if _, err := c.Write(s.bytes()); err != nil && !isClosed(err) {
			return replies, err
		}
	}
	// Redis tells how many replies there are.
	for _, side := range []int{1, 0} {
		n := 1
		for j := 0; j < n; j++ {
			r, err := ReadRaw(p.readers[side])
			if err != nil && !isClosed(err) {
				return replies, fmt.Errorf("%s does not answer %q: %w", [2]string{"the proxy", "Redis"}[side], s.bytes(), err)
			}
			if j == 0 {
				n = p.expected(s.args, &r)
			}
			replies[side] = append(replies[side], r)
		}
	}
	if len(replies[0]) != len(replies[1]) {
		return replies, fmt.Errorf("the proxy gives %d replies to %q, Redis %d", len(replies[0]), s.bytes(), len(replies[1]))
	}
	return replies, nil
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// expected is how many replies a command has, by its first one.
func (p *pair) expected(args []string, first *RawReply) int {
	if len(args) == 0 {
		if first.Failed("ERR Protocol error") {
			return 2 // and then the connection is closed
		}
		return 1
	}
	switch name := nameOf(args); {
	case first.Failed("ERR Protocol error"):
		return 2
	case first.Kind == '-' || first.Kind == 0 || first.Text == "QUEUED":
	case name == "quit":
		return 2
	case name == "subscribe", name == "psubscribe":
		return len(args) - 1
	case name == "unsubscribe" && len(args) == 1:
		return max(len(p.channels), 1)
	case name == "punsubscribe" && len(args) == 1:
		return max(len(p.patterns), 1)
	case name == "unsubscribe", name == "punsubscribe":
		return len(args) - 1
	}
	return 1
}

// follow keeps up with what the client's connection is in, by what Redis has answered.
func (p *pair) follow(args []string, replies []RawReply) {
	if len(args) == 0 {
		return
	}
	set := p.channels
	switch name := nameOf(args); {
	case replies[0].Text == "QUEUED":
		p.queued = append(p.queued, args)
	case name == "exec", name == "discard":
		p.queued, p.watches = nil, p.watches && replies[0].Failed("ERR ")
	case replies[0].Kind == '-':
		p.misnamed = p.misnamed || name == "hello"
	case name == "reset":
		p.proto, p.queued, p.watches = 2, nil, false
		clear(p.channels)
		clear(p.patterns)
	case name == "watch":
		p.watches = true
	case name == "unwatch":
		p.watches = false
	case name == "psubscribe":
		set = p.patterns
		fallthrough
	case name == "subscribe":
		for _, channel := range args[1:] {
			set[channel] = true
		}
	case name == "punsubscribe":
		set = p.patterns
		fallthrough
	case name == "unsubscribe":
		if len(args) == 1 {
			clear(set)
		}
		for _, channel := range args[1:] {
			delete(set, channel)
		}
	}
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
