// Command clients locks through a proxy with the libraries that Go programs
// use. It is a module of its own, so that the program under test does not
// depend on what its clients depend on.
//
//	usage: clients HOST PORT
//	       clients restart HOST PORT HOST PORT
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// patience ends a run that hangs.
const patience = 90 * time.Second

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var good bool
	switch a := os.Args; {
	case len(a) == 3:
		good = run(ctx, net.JoinHostPort(a[1], a[2]))
	case len(a) == 6 && a[1] == "restart":
		good = restart(ctx, []string{net.JoinHostPort(a[2], a[3]), net.JoinHostPort(a[4], a[5])})
	default:
		fmt.Fprintln(os.Stderr, "usage: clients HOST PORT | clients restart HOST PORT HOST PORT")
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

// record is what came out for one library.
type record struct {
	library
	mu     sync.Mutex
	passed []string
	failed bool
}

func (r *record) note(what string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed = true
		fmt.Printf("FAIL %s %s: %s: %s\n", r.name, r.version(), what, strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	r.passed = append(r.passed, what)
}

func run(ctx context.Context, addr string) bool {
	var records []*record
	for _, l := range libraries {
		records = append(records, &record{library: l})
	}
	each := func(work func(*record)) {
		var group sync.WaitGroup
		for _, r := range records {
			group.Go(func() { work(r) })
		}
		group.Wait()
	}

	each(func(r *record) {
		all := scenarios
		if r.instead != nil {
			all = r.instead
		}
		for _, s := range append(slices.Clip(all), r.also...) {
			r.note(s.name, s.run(ctx, r.library, addr))
		}
	})
	// One by one: a library that loads its script again would spare the next one
	// what this is about.
	for _, r := range records {
		r.note(noScript.name, noScript.run(ctx, r.library, addr))
	}
	// Side by side, and announced before the first begins: a master dies for all
	// of them.
	for _, r := range records {
		fmt.Printf("counter begins %s %s\n", r.name, r.version())
	}
	each(func(r *record) {
		said, err := guardedCounter(ctx, r.library, addr)
		if err != nil {
			said = "guarded counter"
		}
		r.note(said, err)
	})
	for _, r := range records {
		fmt.Printf("counter ends %s %s\n", r.name, r.version())
	}

	good := true
	for _, r := range records {
		if r.failed {
			good = false
			continue
		}
		fmt.Printf("ok %s %s: %s\n", r.name, r.version(), strings.Join(r.passed, ", "))
	}
	return good
}
