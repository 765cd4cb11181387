package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"redlock-proxy/integration/nemesis/cached"
	"redlock-proxy/integration/nemesis/lease"
	"redlock-proxy/integration/nemesis/queue"
)

// clientOptions is what a process of clients is told.
type clientOptions struct {
	work    string
	proxies string        // their addresses, with commas between
	name    string        // what all keys begin with
	offset  int           // number of the first proxy
	first   int           // number of the first client
	ttl     time.Duration // the longest that a client asks for
	seed    uint64
	end     int64  // the instant at which no further turn begins
	dir     string // of the files that the locks guard
	out     string // where the history goes
}

func (o clientOptions) addrs() []string { return strings.Split(o.proxies, ",") }

// history is what one process of clients has seen.
type history struct {
	Ops     []lease.Op     // about the keys
	Probes  []lease.Op     // about keys that nobody else wants
	Updates []lease.Update // of the guarded files
	Waits   []lease.Op     // about keys that are waited for
	Queues  []queue.Op
	Cached  []cached.Op
}

func (h *history) add(other history) {
	h.Ops = append(h.Ops, other.Ops...)
	h.Probes = append(h.Probes, other.Probes...)
	h.Updates = append(h.Updates, other.Updates...)
	h.Waits = append(h.Waits, other.Waits...)
	h.Queues = append(h.Queues, other.Queues...)
	h.Cached = append(h.Cached, other.Cached...)
}

// clients is a process of its own: the clients of one kind of work.
func clients(args []string) error {
	var o clientOptions
	flags := flag.NewFlagSet("client", flag.ContinueOnError)
	flags.StringVar(&o.work, "work", "locks", "what they do")
	flags.StringVar(&o.proxies, "proxies", "", "addresses of the proxies")
	flags.IntVar(&o.offset, "offset", 0, "number of the first proxy")
	flags.StringVar(&o.name, "name", "", "what all keys begin with")
	flags.IntVar(&o.first, "first", 0, "number of the first client")
	flags.DurationVar(&o.ttl, "ttl", 2*time.Second, "longest ttl")
	flags.Uint64Var(&o.seed, "seed", 0, "seed")
	flags.Int64Var(&o.end, "end", 0, "instant of the end")
	flags.StringVar(&o.dir, "dir", "", "directory of the guarded files")
	flags.StringVar(&o.out, "out", "", "file of the history")
	if err := flags.Parse(args); err != nil {
		return err
	}
	w, err := workNamed(o.work)
	if err != nil {
		return err
	}
	all, err := o.labour(w)
	if err != nil {
		return err
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(o.out, text, 0o600)
}

// labour has all clients of a process do their work, and gives what they have seen. When
// all have ended, and the end of the input says that all is well again, they settle.
func (o clientOptions) labour(w work) (history, error) {
	var group sync.WaitGroup
	seen := make([]history, w.clients)
	failures := make([]error, w.clients)
	all := make([]labour, w.clients)
	for i := range all {
		all[i] = w.labour(o, o.first+i, &seen[i])
		group.Go(func() {
			for now() < lease.Instant(o.end) && failures[i] == nil {
				failures[i] = all[i].turn()
			}
		})
	}
	group.Wait()
	_, err := io.Copy(io.Discard, os.Stdin)
	for _, l := range all {
		group.Go(func() {
			defer l.hangUp()
			l.settle()
		})
	}
	group.Wait()
	var h history
	for _, s := range seen {
		h.add(s)
	}
	return h, errors.Join(append(failures, err)...)
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
