package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/integration"
)

func pairTrials() (list []trial) {
	for _, w := range []struct {
		masters, goroutines int
		must, aim           float64
	}{
		{3, 1, 1.0, 1.2}, {3, 50, 3.3, 4}, {3, 500, 3, 4},
		{5, 1, 1.0, 1.2}, {5, 50, 4.5, 6}, {5, 500, 6, 7},
	} {
		name := fmt.Sprintf("pairs/N%d-g%d", w.masters, w.goroutines)
		list = append(list, trial{name, func(b *bench, r *report) error {
			measure := fmt.Sprintf("lock + unlock pairs beside redsync, %d at once, N=%d", w.goroutines, w.masters)
			l := line{name, measure, goal{must: w.must, aim: w.aim, set: true}, nil, ""}
			return pairTrial(b, r, l, w.masters, "-goroutines", strconv.Itoa(w.goroutines))
		}})
	}
	return list
}

// hotTrial: fifty clients that all want one lock.
func hotTrial(b *bench, r *report) error {
	l := line{"hot", "pairs on **one** lock beside redsync, 50 clients that retry after 1 ms", b.goal(3, 6), nil, ""}
	return pairTrial(b, r, l, b.masters, "-goroutines", "50", "-hot", "-retry", "1ms")
}

// pairTrial compares redsync at the masters with a plain client at the proxy.
func pairTrial(b *bench, r *report, l line, masters int, args ...string) (err error) {
	h, err := b.house(plan{masters: masters})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	var addrs []string
	for _, m := range h.masters {
		addrs = append(addrs, m.Addr)
	}
	redsync := &side{name: "redsync", watched: []watched{h.watchMasters()},
		load: b.pairLoad(append([]string{"-masters", strings.Join(addrs, ",")}, args...))}
	proxy := h.through(b.pairLoad(append([]string{"-proxy", h.proxy.Addr}, args...)))
	splits, err := field(h.proxy.Addr, "quorum", "splits")
	if err != nil {
		return err
	}
	if err := b.turns(redsync, proxy); err != nil {
		return err
	}
	after, err := field(h.proxy.Addr, "quorum", "splits")
	if err != nil {
		return err
	}
	l.values = proxy.beside(redsync, throughput)
	r.add(l)
	if l.trial == "hot" {
		r.add(line{l.trial, "the same: votes that were split", b.atMost(0, 0), []float64{float64(after - splits)}, "one proxy"})
	}
	r.addFigures(l.trial, redsync, proxy)
	return nil
}

// pairLoad runs the program of the module integration/redsync for one turn.
func (b *bench) pairLoad(args []string) func(time.Duration) (sample, error) {
	return func(d time.Duration) (taken sample, err error) {
		if err := b.buildPairs(); err != nil { // before a turn that counts
			return taken, err
		}
		out, err := integration.Command(b.pairs, append([]string{"-during", d.String()}, args...)...).CombinedOutput()
		if err != nil {
			return taken, fmt.Errorf("pairs: %w\n%s", err, out)
		}
		var told struct {
			Pairs          int
			PerSecond      float64
			P50, P99, P999 time.Duration
		}
		if err := json.Unmarshal(out, &told); err != nil {
			return taken, fmt.Errorf("pairs printed %s: %w", out, err)
		}
		if told.Pairs == 0 {
			return taken, errors.New("not one pair was completed")
		}
		return sample{operations: told.Pairs, perSecond: told.PerSecond, p50: told.P50, p99: told.P99, p999: told.P999}, nil
	}
}

// buildPairs builds that program, once.
func (b *bench) buildPairs() error {
	if b.pairs != "" {
		return nil
	}
	where, err := exec.Command("go", "list", "-f", "{{.Dir}}", "redlock-proxy/integration").Output()
	if err != nil {
		return fmt.Errorf("find the module of redsync: %w", err)
	}
	path := filepath.Join(b.dir, "pairs")
	build := exec.Command("go", "build", "-o", path, "./pairs")
	build.Dir = filepath.Join(strings.TrimSpace(string(where)), "redsync")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program of redsync: %w\n%s", err, out)
	}
	b.pairs = path
	return nil
}
