package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

// clientOptions is what a process of clients is told.
type clientOptions struct {
	proxies string        // their addresses, with commas between
	keys    string        // the locks that all clients want, with commas between
	workers int           // clients that want them
	first   int           // number of the first of them
	ttl     time.Duration // the longest that a client asks for
	seed    uint64
	end     int64  // the instant at which no further turn begins
	dir     string // of the files that the locks guard
	out     string // where the history goes
}

// history is what one process of clients has seen.
type history struct {
	Ops     []lease.Op     // about the keys
	Probes  []lease.Op     // about keys that nobody else wants
	Updates []lease.Update // of the guarded files
}

func (h *history) add(other history) {
	h.Ops = append(h.Ops, other.Ops...)
	h.Probes = append(h.Probes, other.Probes...)
	h.Updates = append(h.Updates, other.Updates...)
}

// clients is a process of its own: several clients that want the same keys,
// and one that asks for keys of its own all the time, to see how it is served.
func clients(args []string) error {
	var o clientOptions
	flags := flag.NewFlagSet("client", flag.ContinueOnError)
	flags.StringVar(&o.proxies, "proxies", "", "addresses of the proxies")
	flags.StringVar(&o.keys, "keys", "", "keys of the locks")
	flags.IntVar(&o.workers, "workers", 4, "how many clients")
	flags.IntVar(&o.first, "first", 0, "number of the first client")
	flags.DurationVar(&o.ttl, "ttl", 2*time.Second, "longest ttl")
	flags.Uint64Var(&o.seed, "seed", 0, "seed")
	flags.Int64Var(&o.end, "end", 0, "instant of the end")
	flags.StringVar(&o.dir, "dir", "", "directory of the guarded files")
	flags.StringVar(&o.out, "out", "", "file of the history")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var group sync.WaitGroup
	seen := make([]history, o.workers+1)
	failures := make([]error, o.workers+1)
	for i := range seen {
		w := newWorker(o, o.first+i, &seen[i])
		turn := w.turn
		if i == o.workers {
			turn = w.probe
		}
		group.Go(func() {
			defer w.hangUp()
			for now() < lease.Instant(o.end) && failures[i] == nil {
				failures[i] = turn()
			}
		})
	}
	group.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	var all history
	for _, h := range seen {
		all.add(h)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(o.out, text, 0o600)
}

func newWorker(o clientOptions, id int, seen *history) *worker {
	return &worker{
		id:      id,
		proxies: strings.Split(o.proxies, ","),
		keys:    strings.Split(o.keys, ","),
		longest: o.ttl,
		dir:     o.dir,
		random:  rand.New(rand.NewPCG(o.seed, uint64(id))),
		seen:    seen,
	}
}

// readHistory reads what a process of clients left.
func readHistory(path string) (history, error) {
	var h history
	text, err := os.ReadFile(path)
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return h, fmt.Errorf("history %s: %w", path, err)
	}
	return h, nil
}
