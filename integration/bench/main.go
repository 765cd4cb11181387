package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
)

type options struct {
	masters  int
	frozen   bool
	rounds   int
	requests int
	idle     int
	program  string
}

func main() {
	var o options
	short := flag.Bool("short", false, "fewer rounds, requests and idle connections")
	flag.IntVar(&o.masters, "masters", 3, "masters behind the proxy")
	flag.BoolVar(&o.frozen, "frozen", false, "freeze one of the masters")
	flag.IntVar(&o.rounds, "rounds", 5, "turns of each")
	flag.IntVar(&o.requests, "requests", 100_000, "requests a turn, with 50 clients; one client sends a tenth")
	flag.IntVar(&o.idle, "idle", 10_000, "idle connections to hold")
	flag.StringVar(&o.program, "program", "", "the redlock-proxy to measure; built from here if not named")
	flag.Parse()
	if *short {
		shorten()
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// shorten sets what the command line did not name.
func shorten() {
	named := make(map[string]bool)
	flag.Visit(func(f *flag.Flag) { named[f.Name] = true })
	for name, value := range map[string]string{"rounds": "3", "requests": "20000", "idle": "2000"} {
		if !named[name] {
			// These are numbers, and Set minds nothing else.
			_ = flag.Set(name, value)
		}
	}
}

func run(o options) (err error) {
	h, err := open(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()

	fmt.Printf("%d cores, %d masters%s, %d rounds, medians.\n\n", runtime.NumCPU(), o.masters, frozenNote(o), o.rounds)
	before, err := h.size()
	if err != nil {
		return err
	}
	if err := compare(h, o); err != nil {
		return err
	}
	after, err := h.size()
	if err != nil {
		return err
	}
	fmt.Printf("\nThe proxy before: %v; after the load: %v.\n\n", before, after)
	return holdIdle(h, o.idle)
}

func frozenNote(o options) string {
	if o.frozen {
		return ", one of them frozen"
	}
	return ""
}
