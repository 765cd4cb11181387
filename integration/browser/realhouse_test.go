package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"redlock-proxy/integration"
)

// program is the real one, built once for all tests.
var program struct {
	sync.Once
	dir string
	err error
}

func build() {
	if program.dir, program.err = os.MkdirTemp("", "redlock-proxy-"); program.err != nil {
		return
	}
	out, err := exec.Command("go", "build", "-C", "../..", "-buildvcs=false", "-o", program.dir, "./cmd/redlock-proxy").CombinedOutput()
	if err != nil {
		program.err = fmt.Errorf("build the proxy: %w\n%s", err, out)
	}
}

// real is a proxy over three redis-servers, of which all is true that is shown of them.
type real struct {
	t       *testing.T
	masters []*integration.Redis
	proxy   *integration.Proxy
	at      string // the page
}

func newReal(t *testing.T, args ...string) *real {
	t.Helper()
	program.Do(build)
	must(t, program.err)
	r := &real{t: t}
	args = append(args, "--admin-listen", "127.0.0.1:0", "--user", "default on nopass ~* &* +@all")
	for range 3 {
		m, err := integration.StartRedis(integration.RedisOptions{})
		must(t, err)
		t.Cleanup(func() { must(t, m.Stop()) })
		r.masters = append(r.masters, m)
		args = append(args, "--master", m.Addr)
	}
	var err error
	r.proxy, err = integration.StartProxy(integration.ProxyOptions{Path: filepath.Join(program.dir, "redlock-proxy"), Args: args})
	must(t, err)
	t.Cleanup(func() {
		if code, err := r.proxy.Terminate(hangs); code != 0 || err != nil {
			t.Errorf("the proxy ended with %d, %v\n%s", code, err, r.proxy.Log())
		}
	})
	r.at = r.logged(`the admin listener is open: at=(\S+)`)
	r.logged(`every master has been tried: ready=(true)`)
	return r
}

// logged waits for a line of the log, and is what it says.
func (r *real) logged(line string) string {
	r.t.Helper()
	for end := time.Now().Add(hangs); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if said := regexp.MustCompile(line).FindStringSubmatch(r.proxy.Log()); said != nil {
			return said[1]
		}
	}
	r.t.Fatalf("no line is like %s:\n%s", line, r.proxy.Log())
	return ""
}

func (r *real) address() string { return r.at + "/" }

// worker is a client of the proxy with a name.
type worker struct {
	t *testing.T
	c *integration.Client
}

func (r *real) worker(name string) worker {
	r.t.Helper()
	c, err := integration.Dial(r.proxy.Addr)
	must(r.t, err)
	r.t.Cleanup(func() { c.Close() })
	w := worker{r.t, c}
	w.gets("OK", "CLIENT SETNAME "+name)
	return w
}

// gets a reply to a command, whose words have no spaces in them.
func (w worker) gets(want any, command string) {
	w.t.Helper()
	got, err := w.c.Do(strings.Fields(command)...)
	must(w.t, err)
	if got != want {
		w.t.Fatalf("%s is answered %v, want %v", command, got, want)
	}
}

// votesAre waits until all masters have the same of a lock in the list.
func (b *tab) votesAre(r *real, key, vote string) {
	b.t.Helper()
	var words []string
	for _, m := range r.masters {
		words = append(words, m.Addr+" "+vote)
	}
	b.until(key+" is "+vote+" by all", fmt.Sprintf(`[...document.querySelectorAll("#locks tr")].some(e => e.textContent.includes(%s) && e.querySelector(".votes").getAttribute("aria-label") === %s)`,
		quoted(key), quoted(strings.Join(words, ", "))))
}
