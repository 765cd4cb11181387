package main

import (
	"fmt"
	"slices"
	"strings"
)

// work is a kind of what clients do in a round.
type work struct {
	name      string // on the command line
	processes int
	clients   int // in each
	settles   bool
	waits     bool // through proxies at which an acquire waits
	labour    func(o clientOptions, id int, seen *history) labour
}

// labour is what one client does.
type labour interface {
	turn() error // again and again, until the round is over
	settle()     // then once, when the faults are mended and all masters vote
	hangUp()
}

// processSpan is how many numbers of clients a process has, so that these tell which they
// are in.
const processSpan = 100

// works are all there are, in the order in which their processes are numbered.
var works = []work{
	{name: "locks", processes: processes, clients: workers + 1, labour: newWorker},
	{name: "queues", processes: 1, clients: producers + consumers + movers, settles: true, labour: newQueuer},
	{name: "waiters", processes: 1, clients: waiters + waitingProxies, waits: true, labour: newWaiter},
	{name: "caches", processes: 1, clients: writers + keepers + 2, settles: true, labour: newCacher},
}

// locksAlone is what the matrix is made of.
var locksAlone = works[:1]

// worksNamed gives those of a list with commas; "all" are all.
func worksNamed(list string) ([]work, error) {
	if list == "all" {
		return works, nil
	}
	var chosen []work
	for name := range strings.SplitSeq(list, ",") {
		w, err := workNamed(name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, w)
	}
	return chosen, nil
}

func workNamed(name string) (work, error) {
	i := slices.IndexFunc(works, func(w work) bool { return w.name == name })
	if i < 0 {
		return work{}, fmt.Errorf("no work %q; there are %s", name, workNames(works))
	}
	return works[i], nil
}

func workNames(list []work) string {
	var all []string
	for _, w := range list {
		all = append(all, w.name)
	}
	return strings.Join(all, ",")
}
