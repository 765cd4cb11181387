package main

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"time"
)

type options struct {
	masters  int
	rounds   int
	turn     time.Duration
	idle     int
	keys     int
	program  string
	before   string
	pattern  *regexp.Regexp
	list     bool
	growth   bool
	profile  string
	markdown string
	command  string // that made the run
}

// The values of a -short run, for what the command line does not name.
const (
	shortRounds = 3
	shortTurn   = 250 * time.Millisecond
	shortIdle   = 2000
	shortKeys   = 100_000
)

func parse(args []string) (options, error) {
	o := options{command: strings.TrimSpace("go run ./integration/bench " + strings.Join(args, " "))}
	f := flag.NewFlagSet("bench", flag.ExitOnError)
	short := f.Bool("short", false, "fewer and shorter turns: two minutes")
	pattern := f.String("run", "", "measure only the trials whose names this regular expression finds")
	f.IntVar(&o.masters, "masters", 3, "masters behind the proxy, where a trial does not name another number")
	f.IntVar(&o.rounds, "rounds", 9, "turns of each side")
	f.DurationVar(&o.turn, "turn", time.Second, "how long a turn takes")
	f.IntVar(&o.idle, "idle", 10_000, "idle connections to hold; both ends need a file each in their process")
	f.IntVar(&o.keys, "keys", 1_000_000, "with -growth: the most keys to hold; 10 million take 5 GB")
	f.StringVar(&o.program, "program", "", "the redlock-proxy to measure; built from here if not named")
	f.StringVar(&o.before, "before", "", "measure beside that `build` of redlock-proxy, in turns over the same masters, instead of the rest")
	f.BoolVar(&o.list, "list", false, "print the names of the trials")
	f.BoolVar(&o.growth, "growth", false, "measure how cost grows, instead of the rest")
	f.StringVar(&o.profile, "profile", "", "write profiles of a proxy inside this process to that `directory`, instead of measuring")
	f.StringVar(&o.markdown, "markdown", "", "write the tables to that `file` too")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.pattern, err = regexp.Compile(*pattern); err != nil {
		return o, fmt.Errorf("-run: %w", err)
	}
	if *short {
		o.shorten(f)
	}
	if f.NArg() > 0 || o.masters < 1 || o.rounds < 1 || o.turn < 10*time.Millisecond || o.idle < 1 || o.keys < 1 {
		return o, errors.New("arguments without a flag, or numbers that are too small")
	}
	return o, nil
}

// shorten sets what the command line did not name.
func (o *options) shorten(f *flag.FlagSet) {
	named := make(map[string]bool)
	f.Visit(func(f *flag.Flag) { named[f.Name] = true })
	if !named["rounds"] {
		o.rounds = shortRounds
	}
	if !named["turn"] {
		o.turn = shortTurn
	}
	if !named["idle"] {
		o.idle = shortIdle
	}
	if !named["keys"] {
		o.keys = shortKeys
	}
}

// chosen is what is to be measured, in order.
func (o *options) chosen() []trial {
	all := trials()
	switch {
	case o.growth:
		all = growthTrials()
	case o.before != "":
		all = beforeTrials()
	}
	var list []trial
	for _, t := range all {
		if o.pattern.MatchString(t.name) {
			list = append(list, t)
		}
	}
	return list
}
