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
	rounds   int
	lasts    time.Duration // a turn
	memory   int           // MiB
	short    bool
	program  string
	pattern  *regexp.Regexp
	list     bool
	markdown string
	command  string // that made the run
}

// The values of a -short run, for what the command line does not name.
const (
	shortRounds = 1
	shortTurn   = 800 * time.Millisecond
	shortMemory = 192
)

func parse(args []string) (options, error) {
	o := options{command: strings.TrimSpace("go run ./integration/attack " + strings.Join(args, " "))}
	f := flag.NewFlagSet("attack", flag.ContinueOnError)
	f.BoolVar(&o.short, "short", false, "one short turn each, in which only that counts which does not hang on the machine's speed")
	pattern := f.String("run", "", "only the attacks whose names this regular expression finds")
	f.IntVar(&o.rounds, "rounds", 3, "turns of each side")
	f.DurationVar(&o.lasts, "for", 4*time.Second, "how long a turn takes")
	f.IntVar(&o.memory, "memory", 512, "the proxy's max-client-memory, in `MiB`")
	f.StringVar(&o.program, "program", "", "the redlock-proxy to attack; built from here if not named")
	f.BoolVar(&o.list, "list", false, "print the names of the attacks")
	f.StringVar(&o.markdown, "markdown", "", "write the table to that `file` too")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.pattern, err = regexp.Compile(*pattern); err != nil {
		return o, fmt.Errorf("-run: %w", err)
	}
	if o.short {
		o.shorten(f)
	}
	if f.NArg() > 0 || o.rounds < 1 || o.lasts < 10*time.Millisecond || o.memory < 64 {
		return o, errors.New("arguments without a flag, or numbers that are too small")
	}
	if len(o.chosen()) == 0 {
		return o, errors.New("no attack has such a name; -list tells them")
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
	if !named["for"] {
		o.lasts = shortTurn
	}
	if !named["memory"] {
		o.memory = shortMemory
	}
}

// chosen is what is to be run, in order.
func (o *options) chosen() []attack {
	var list []attack
	for _, a := range attacks() {
		if o.pattern.MatchString(a.name) {
			list = append(list, a)
		}
	}
	return list
}
