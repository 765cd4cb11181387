package clients

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"redlock-proxy/integration"
)

// restarting are the languages whose script has clients of proxies that are restarted, and of
// how many libraries.
var restarting = map[string]int{"go": 1, "java": 3, "node": 2, "python": 2}

// surfaced are the errors that a library may hand to its program when a connection ends, as
// commands/README.md tells, and how many of its 50 clients in two restarts. The others try again by
// themselves. Who only looks whether a connection is there before it is used meets one where it
// pauses between the two for longer than it takes for being quiet.
var surfaced = map[string]surfacing{
	"jedis 8.0.2":              {jedisClosed, 100},
	"jedis-testOnBorrow 8.0.2": {jedisClosed, 5},
	"redis-py 5.3.1":           {regexp.MustCompile(`: ConnectionError: (Connection closed by server|Error 104|Error 32)`), 5},
}

type surfacing struct {
	text *regexp.Regexp
	most int
}

var jedisClosed = regexp.MustCompile(`: redis\.clients\.jedis\.exceptions\.JedisConnectionException: (Unexpected end of stream|java\.net\.SocketException: (Connection reset|Broken pipe))`)

// betweenRestarts is for how long all goes on as usual, so that what a restart brings about is met.
const betweenRestarts = time.Second

// crowd is the clients of all these libraries.
type crowd struct {
	t       *testing.T
	scripts []*script
	lines   chan string // closed when all have ended
	begun   int         // libraries whose clients all have their locks
	told    int         // and that have told how it went
	errors  map[string]int
}

// gather starts them, against two proxies.
func gather(t *testing.T, languages, proxies []string) *crowd {
	t.Helper()
	c := &crowd{t: t, lines: make(chan string), errors: map[string]int{}}
	var group sync.WaitGroup
	for _, language := range languages {
		s, err := launch(filepath.Join(language, "run"), patience, append([]string{"restart"}, proxies...)...)
		if err != nil {
			t.Fatal(err)
		}
		c.scripts = append(c.scripts, s)
		group.Go(func() { s.follow(func(line string) { c.lines <- line }, func() {}) })
	}
	go func() {
		group.Wait()
		close(c.lines)
	}()
	return c
}

// hear takes the lines that come, until enough is so or the time is over, which zero never is. It is
// false if none can come any more.
func (c *crowd) hear(enough func() bool, within time.Duration) bool {
	var over <-chan time.Time
	if within > 0 {
		timer := time.NewTimer(within)
		defer timer.Stop()
		over = timer.C
	}
	for !enough() {
		select {
		case line, open := <-c.lines:
			if !open {
				return false
			}
			c.take(line)
		case <-over:
			return true
		}
	}
	return true
}

func (c *crowd) take(line string) {
	c.t.Log(line)
	what, rest, _ := strings.Cut(line, " ")
	switch {
	case strings.HasPrefix(line, "restart begins "):
		c.begun++
	case what == "ok":
		c.told++
		if strings.Contains(rest, ": 0 locks") {
			c.t.Error("no lock was taken: see the line before")
		}
	case what == "error":
		library, text, _ := strings.Cut(rest, ": ")
		times, _, _ := strings.Cut(text, " ")
		n, err := strconv.Atoi(times)
		c.errors[library] += n
		if may := surfaced[library]; err != nil || may.text == nil || !may.text.MatchString(text) || c.errors[library] > may.most {
			c.t.Error("a library hands an error to its program, or too many: see the line before")
		}
	}
}

// end has them release what they hold, and waits for what they tell.
func (c *crowd) end() {
	for _, s := range c.scripts {
		s.in.Close()
	}
	c.hear(func() bool { return false }, 0)
	for _, s := range c.scripts {
		if err := s.wait(); err != nil {
			c.t.Error(err)
		}
	}
}

// TestARestartOfProxiesIsNoErrorToTheirClients: of two proxies, one after the other is replaced by a
// new process, while clients of both take and release locks, and hold one each throughout.
func TestARestartOfProxiesIsNoErrorToTheirClients(t *testing.T) {
	masters, args := startMasters(t)
	args = append(args, "--reuse-port", "yes", "--shutdown-timeout", "1m", "--connect-timeout", "5s")
	var proxies []*integration.Proxy
	var addrs []string
	for range 2 {
		p := startProxy(t, args, "")
		awaitVoting(t, p, len(masters))
		proxies, addrs = append(proxies, p), append(addrs, hostAndPort(t, p.Addr)...)
	}
	var languages []string
	libraries := 0
	for _, language := range folders(t) {
		if n := restarting[language]; n > 0 {
			languages, libraries = append(languages, language), libraries+n
		}
	}
	c := gather(t, languages, addrs)
	never := func() bool { return false }
	if !c.hear(func() bool { return c.begun == libraries }, patience) {
		t.Error("the clients have ended")
	}
	for _, old := range proxies {
		c.hear(never, betweenRestarts)
		replace(t, old, args, c)
	}
	c.hear(never, betweenRestarts)
	c.end()
	if c.told != libraries {
		t.Errorf("%d libraries of %d tell how it went", c.told, libraries)
	}
}

// replace starts a new process beside an old one, and ends that when the new one can serve.
func replace(t *testing.T, old *integration.Proxy, args []string, c *crowd) {
	t.Helper()
	fresh := startProxy(t, args, old.Addr)
	for deadline := time.Now().Add(time.Minute); !strings.Contains(fresh.Log(), "every master has been tried: ready=true"); {
		if !c.hear(func() bool { return false }, 20*time.Millisecond) || time.Now().After(deadline) {
			t.Fatal("the new proxy is not ready, or the clients have ended")
		}
	}
	terminate(t, old)
	if log := old.Log(); strings.Contains(log, "cut off") {
		t.Errorf("the old proxy has cut clients off:\n%s", log)
	}
}
