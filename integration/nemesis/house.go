package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"redlock-proxy/integration"
	"redlock-proxy/integration/clock"
	"redlock-proxy/integration/nemesis/lease"
)

// maxTTL is how long a master without its memory is kept out at most: as short as may
// be, so that a run sees it come back often.
const maxTTL = 5 * time.Second

// knownAgain is how long after a loss a master votes again at the latest, if all is well
// with it: when its quarantine is over, or that of a set in which nobody votes.
const knownAgain = maxTTL + maxTTL/100 + 4*notice

// longestTTL is the longest that clients ask for.
const longestTTL = 2 * time.Second

// house is the masters and the proxies in front of them.
type house struct {
	dir     string
	program string
	masters []*master
	proxies []*proxy
	waiting int        // so many of these, the last, have an acquire wait
	clients []*company // of the round that is played

	mu     sync.Mutex      // guards forgot
	forgot []lease.Instant // when each master lost its keys last
	alone  bool            // it is one server without a proxy
}

// proxy is the real program, which may be killed and started anew.
type proxy struct {
	busy sync.Mutex // held by the fault that it suffers from
	o    integration.ProxyOptions
	run  *integration.Proxy
}

// start starts a proxy anew, until it serves: it does not where one of the masters is
// none at the moment (a replica, or one that evicts), and a supervisor tries again.
func (p *proxy) start() error {
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		var run *integration.Proxy
		if run, err = integration.StartProxy(p.o); err != nil {
			continue
		}
		for !run.Ended() && !strings.Contains(run.Log(), "every master has been tried") {
			time.Sleep(10 * time.Millisecond)
		}
		if p.run = run; !run.Ended() {
			return nil
		}
		err = fmt.Errorf("the proxy has ended\n%s", run.Log())
	}
	return err
}

// build makes the program under test from the module's own source.
func build(dir string, race bool) (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "redlock-proxy").Output()
	if err != nil {
		return "", fmt.Errorf("find the proxy's module: %w; run this in integration/nemesis", err)
	}
	path := filepath.Join(dir, "redlock-proxy")
	args := []string{"build", "-o", path, "./cmd/redlock-proxy"}
	if race {
		args = []string{"build", "-race", "-o", path, "./cmd/redlock-proxy"}
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = strings.TrimSpace(string(root))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the proxy: %w\n%s", err, out)
	}
	return path, nil
}

// open starts everything and waits until all masters vote at all proxies.
func open(o options, program string, masters int) (h *house, err error) {
	h = &house{program: program, forgot: make([]lease.Instant, masters)}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	if slices.ContainsFunc(o.works, func(w work) bool { return w.waits }) {
		h.waiting = waitingProxies
	}
	if h.dir, err = os.MkdirTemp("", "nemesis-"); err != nil {
		return h, err
	}
	library, err := clock.Build(h.dir)
	if err != nil {
		return h, err
	}
	for i := range masters {
		m, err := startMaster(o.servers.Of(i), library, filepath.Join(h.dir, "master"+strconv.Itoa(i)), o.proxies+h.waiting, o.kind)
		if err != nil {
			return h, err
		}
		h.masters = append(h.masters, m)
	}
	if err := h.bootstrap(); err != nil {
		return h, err
	}
	for i := range o.proxies + h.waiting {
		args := []string{"--max-ttl", maxTTL.String()}
		if i >= o.proxies {
			args = append(args, "--acquire-wait", acquireWait.String())
		}
		for j, m := range h.masters {
			args = append(args, "--master", called(j, m.links[i].addr))
		}
		p := &proxy{o: integration.ProxyOptions{Path: program, Args: args}}
		if p.run, err = integration.StartProxy(p.o); err != nil {
			return h, err
		}
		// A proxy that is started anew is found where it was.
		p.o.Addr = p.run.Addr
		h.proxies = append(h.proxies, p)
	}
	return h, h.awaitVoting(time.Minute)
}

// called is how a proxy is told of the i-th master: each reaches it by a link of
// its own, and all must call it alike.
func called(i int, addr string) string { return fmt.Sprintf("redis://%s?name=master%d", addr, i) }

// addrs are the addresses of the proxies for some work, and the number of the first.
func (h *house) addrs(w work) (all []string, first int) {
	chosen := h.proxies[:len(h.proxies)-h.waiting]
	if w.waits && h.waiting > 0 {
		first = len(chosen)
		chosen = h.proxies[first:]
	}
	for _, p := range chosen {
		all = append(all, p.run.Addr)
	}
	return all, first
}

// awaitVoting waits until every master votes at every proxy.
func (h *house) awaitVoting(within time.Duration) error {
	for deadline := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		err := h.voting()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not all masters vote %v after the faults: %w", within, err)
		}
	}
}

func (h *house) voting() error {
	if h.alone {
		return nil
	}
	for i, p := range h.proxies {
		info, err := p.info()
		if err != nil {
			return err
		}
		if n := strings.Count(info, "state=voting"); n != len(h.masters) {
			return fmt.Errorf("proxy %d sees %d of %d vote\n%s", i, n, len(h.masters), info)
		}
	}
	return nil
}

func (p *proxy) info() (string, error) {
	c, err := integration.Dial(p.run.Addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	reply, err := c.Do("INFO", "quorum")
	if err != nil {
		return "", err
	}
	info, ok := reply.(string)
	if !ok {
		return "", fmt.Errorf("INFO is answered %v", reply)
	}
	return info, nil
}

// mayForget asks for leave to take a master's memory away. It is refused if no
// other master would be left that has had time to be known again: a set of masters that
// have all forgotten together grants nothing for as long as faults go on.
func (h *house) mayForget(i int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for j, at := range h.forgot {
		if j != i && (at == 0 || now().Since(at) > knownAgain) {
			h.forgot[i] = now()
			return true
		}
	}
	return false
}

// hasForgotten notes that a master's memory was at risk until now.
func (h *house) hasForgotten(i int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forgot[i] = now()
}

// logs is what the proxies have printed.
func (h *house) logs() string {
	var b strings.Builder
	for i, p := range h.proxies {
		fmt.Fprintf(&b, "=== proxy %d, its latest run\n%s\n", i, p.run.Log())
	}
	return b.String()
}

func (h *house) close() error {
	var err error
	for i, p := range h.proxies {
		code, endErr := p.run.Terminate(time.Minute)
		if err = errors.Join(err, endErr); endErr == nil && code != 0 {
			err = errors.Join(err, fmt.Errorf("proxy %d ended with exit code %d\n%s", i, code, p.run.Log()))
		}
	}
	for _, m := range h.masters {
		err = errors.Join(err, m.stop())
	}
	if h.dir != "" {
		err = errors.Join(err, os.RemoveAll(h.dir))
	}
	return err
}
