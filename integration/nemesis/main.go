package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/integration"
)

// clientCommand is the argument by which this program starts itself as a
// process of clients.
const clientCommand = "client"

type options struct {
	masters  []int
	proxies  int
	kind     kind
	works    []work
	faults   []fault
	gentle   bool // every other round or so is of faults by which no master forgets
	servers  integration.Servers
	hands    int
	seed     uint64
	total    time.Duration
	round    time.Duration
	race     bool
	program  string
	keep     string
	mustFail bool
	matrix   bool
	readme   string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == clientCommand {
		exit(clients(os.Args[2:]))
	}
	o, err := parse(os.Args[1:])
	if err != nil {
		exit(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if o.matrix {
		exit(printMatrix(ctx, o))
	}
	exit(hunt(ctx, o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "nemesis:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("nemesis", flag.ExitOnError)
	masters := flags.String("masters", "3,5", "how many masters; several numbers: one after the other")
	flags.IntVar(&o.proxies, "proxies", 2, "how many proxies")
	logging := flags.Bool("durable", false, "masters that write every change to a log before they answer")
	list := flags.String("faults", "all", "which faults: all, or names with commas: "+names(faults)+","+forged.name)
	does := flags.String("work", "all", "what clients do: all, or names with commas: "+workNames(works))
	flags.Var(&o.servers, "servers", "start masters from these redis-servers in turn: installed, or versions that integration/servers knows, with commas")
	flags.IntVar(&o.hands, "hands", 0, "how many faults at a time at most; 0: in turns, from one to a quorum of the masters")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of the first round, each other having the next; 0: from the clock")
	flags.DurationVar(&o.total, "for", 80*time.Second, "how long altogether, to whole rounds")
	flags.DurationVar(&o.round, "round", 20*time.Second, "how long a round is, and each line of the matrix")
	flags.BoolVar(&o.race, "race", false, "build the proxy with the race detector")
	flags.StringVar(&o.program, "program", "", "the redlock-proxy to try; built from here if not named")
	flags.StringVar(&o.keep, "keep", os.TempDir(), "where to leave what is known of a round that went wrong")
	flags.BoolVar(&o.mustFail, "must-fail", false, "demand two holders of a lock: with -faults "+forged.name+" the proof that they would be found")
	flags.BoolVar(&o.matrix, "matrix", false, "print the matrix of faults")
	flags.StringVar(&o.readme, "readme", "", "put the matrix into this file, between its marks, instead of printing it")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	for n := range strings.SplitSeq(*masters, ",") {
		number, err := strconv.Atoi(n)
		if err != nil || number < 3 {
			return o, fmt.Errorf("-masters %s: want numbers from 3 on", *masters)
		}
		o.masters = append(o.masters, number)
	}
	if o.round < time.Second {
		return o, fmt.Errorf("-round %v: want at least a second", o.round)
	}
	o.kind = volatile
	if *logging {
		o.kind = durable
	}
	var err error
	if o.faults, err = named(*list, o.kind); err != nil {
		return o, err
	}
	o.gentle = *list == "all"
	if o.works, err = worksNamed(*does); err != nil {
		return o, err
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	return o, nil
}

// withHouses opens a house for each number of masters and closes it again.
func withHouses(o options, do func(h *house, masters int) error) (err error) {
	program := o.program
	if program == "" {
		dir, err := os.MkdirTemp("", "nemesis-build-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if program, err = build(dir, o.race); err != nil {
			return err
		}
	}
	for _, n := range o.masters {
		h, err := open(o, program, n)
		if err != nil {
			return err
		}
		if err := errors.Join(do(h, n), h.close()); err != nil {
			return err
		}
	}
	return nil
}

// hunt plays rounds of faults until the time is over or a round goes wrong.
func hunt(ctx context.Context, o options) error {
	twice := 0
	err := withHouses(o, func(h *house, masters int) error {
		unserved := 0
		rounds := max(1, o.total/time.Duration(len(o.masters))/o.round)
		for ; rounds > 0 && ctx.Err() == nil; rounds-- {
			p := o.plan(masters)
			o.seed++
			j, err := h.hunt(ctx, p)
			if err != nil {
				return fmt.Errorf("seed %d: %w\nrepeat: %s", p.seed, err, o.again(p, masters))
			}
			fmt.Printf("%d masters, seed %d, %v: %v\n", masters, p.seed, p.during, j)
			twice += j.twice()
			if unserved++; j.served() {
				unserved = 0
			} else if unserved == mostUnserved {
				return fmt.Errorf("%s in %d rounds with %d masters", nobodyServed, unserved, masters)
			}
			if bad := j.complaints(); len(bad) > 0 && !(o.mustFail && twice > 0) {
				dir, err := h.keep(o.keep, j)
				return errors.Join(fmt.Errorf("seed %d:\n%s\nkept in %s\nrepeat: %s",
					p.seed, strings.Join(bad, "\n"), dir, o.again(p, masters)), err)
			}
			if o.mustFail && twice > 0 {
				return nil
			}
		}
		return nil
	})
	if err == nil && o.mustFail && twice == 0 {
		return errors.New("nobody held a lock twice, although masters forgot and nobody could know")
	}
	return err
}

// mostUnserved is how many rounds in turn may pass without any service, where a majority of
// the masters is struck at a time.
const mostUnserved = 10

// plan is the next round: its seed says how many faults there are at a time, and whether
// masters forget.
func (o options) plan(masters int) plan {
	p := plan{seed: o.seed, during: o.round, works: o.works, faults: o.faults, hands: o.hands}
	turns := uint64(quorum(masters))
	if p.hands == 0 {
		p.hands = 1 + int(o.seed%turns)
	}
	if o.gentle && o.seed/turns%2 == 0 {
		p.faults = slices.DeleteFunc(slices.Clone(p.faults), fault.loses)
	}
	return p
}

// quorum is how many of so many masters decide.
func quorum(masters int) int { return masters/2 + 1 }

// hunt plays one round and sees that all is well again after it.
func (h *house) hunt(ctx context.Context, p plan) (*judged, error) {
	r, err := h.play(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := h.awaitVoting(maxTTL + time.Minute); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, h.logs())
	}
	return judge(r), nil
}
