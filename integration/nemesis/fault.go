package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"redlock-proxy/integration"
)

// marker is the key that says that a master remembers.
const marker = "redlock-proxy:{marker}"

// fault is something that happens to one master, one proxy or one process of
// clients.
type fault struct {
	name    string // on the command line
	what    string // in the matrix
	victim  victim // a master, if it says nothing
	forgets bool   // the master's keys are lost, or expire too early
	on      kind   // of masters
	// It lasts between these.
	shortest, longest time.Duration
	// begin makes it happen to the i-th, and gives what ends it.
	begin func(h *house, i int, random *rand.Rand) (end func() error, err error)
}

// victim is who suffers a fault.
type victim uint8

const (
	aMaster victim = iota
	aProxy
	someClients
)

// kind is which masters a fault can befall.
type kind uint8

const (
	volatile kind = iota + 1 // the others
	durable                  // those that write every change to a log before they answer
)

// befalls tells whether a fault that names no kind, or this one, does.
func (f fault) befalls(masters kind) bool { return f.on == 0 || f.on == masters }

// faults are all there are, but for the one by which a nemesis proves itself.
var faults = []fault{
	{name: "kill", what: "killed, restarted blank", forgets: true, shortest: 0, longest: time.Second, begin: killBlank},
	{name: "kill-late", what: "killed, restarted blank after max-ttl", shortest: maxTTL + maxTTL/10, longest: maxTTL + maxTTL/2, begin: killBlank},
	// A log that is not the latest cannot be told from one that is, which is why
	// this is nothing that durable masters do.
	{name: "kill-old", what: "killed, restarted with an older dump", on: volatile, forgets: true, shortest: 0, longest: time.Second, begin: killOld},
	{name: "kill-durable", what: "killed, restarted with its log", on: durable, shortest: 0, longest: time.Second, begin: killDurable},
	{name: "freeze", what: "frozen, thawed", shortest: 50 * time.Millisecond, longest: 3 * time.Second, begin: freeze},
	{name: "flush", what: "FLUSHALL", forgets: true, shortest: 0, longest: 500 * time.Millisecond, begin: flush},
	{name: "forward", what: "clock jumps forward, and back again", forgets: true, shortest: 100 * time.Millisecond, longest: 3 * time.Second, begin: jump(1)},
	{name: "back", what: "clock jumps back, and forward again", forgets: true, shortest: 100 * time.Millisecond, longest: 3 * time.Second, begin: jump(-1)},
	{name: "cut", what: "cut off", shortest: 50 * time.Millisecond, longest: 3 * time.Second, begin: cut},
	{name: "silent", what: "silent: connections open, nothing passes", shortest: 50 * time.Millisecond, longest: 3 * time.Second, begin: silence},
	{name: "slow", what: "slow by 20 to 200 ms each way", shortest: 50 * time.Millisecond, longest: 3 * time.Second, begin: slow},
	{name: "proxy-kill", what: "a proxy killed, restarted", victim: aProxy, shortest: 0, longest: time.Second, begin: killProxy},
	{name: "proxy-freeze", what: "a proxy frozen, thawed", victim: aProxy, shortest: 50 * time.Millisecond, longest: 3 * time.Second, begin: freezeProxy},
	{name: "client-freeze", what: "clients frozen, thawed", victim: someClients, shortest: 50 * time.Millisecond, longest: 3 * time.Second, begin: freezeClients},
}

// forged takes a master's keys away and puts its marker back in the same
// moment: a loss that no proxy can find out, and so the proof that this program
// finds two holders where there are any.
var forged = fault{name: "forged", what: "FLUSHALL with the marker put back", shortest: 0, longest: 100 * time.Millisecond, begin: forge}

// named gives the faults of a list with commas; "all" are all that can befall
// masters of the kind.
func named(list string, masters kind) ([]fault, error) {
	if list == "all" {
		return suffered(masters), nil
	}
	var chosen []fault
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(faults, func(f fault) bool { return f.name == name })
		switch {
		case name == forged.name:
			chosen = append(chosen, forged)
		case i >= 0 && !faults[i].befalls(masters):
			return nil, fmt.Errorf("fault %s is for masters of the other kind: see -durable", name)
		case i < 0:
			return nil, fmt.Errorf("no fault %q; there are %s and %s", name, names(faults), forged.name)
		default:
			chosen = append(chosen, faults[i])
		}
	}
	return chosen, nil
}

func suffered(masters kind) []fault {
	return slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return !f.befalls(masters) })
}

func names(list []fault) string {
	var all []string
	for _, f := range list {
		all = append(all, f.name)
	}
	return strings.Join(all, ",")
}

func killBlank(h *house, i int, _ *rand.Rand) (func() error, error) {
	m := h.masters[i]
	return func() error { return m.restart(blank) }, m.redis.Kill()
}

// killOld lets some time pass between what is kept and the end of the server.
func killOld(h *house, i int, random *rand.Rand) (func() error, error) {
	m := h.masters[i]
	if err := m.keep(); err != nil {
		return nil, err
	}
	time.Sleep(between(random, 100*time.Millisecond, time.Second))
	return func() error { return m.restart(older) }, m.redis.Kill()
}

func killDurable(h *house, i int, _ *rand.Rand) (func() error, error) {
	m := h.masters[i]
	return func() error { return m.restart(own) }, m.redis.Kill()
}

func freeze(h *house, i int, _ *rand.Rand) (func() error, error) {
	m := h.masters[i]
	return m.redis.Thaw, m.redis.Freeze()
}

func flush(h *house, i int, _ *rand.Rand) (func() error, error) {
	_, err := h.masters[i].do("FLUSHALL")
	return nothing, err
}

func forge(h *house, i int, _ *rand.Rand) (func() error, error) {
	const script = `local m = redis.call("GET", KEYS[1]) redis.call("FLUSHALL") if m then redis.call("SET", KEYS[1], m) end return 1`
	_, err := h.masters[i].do("EVAL", script, "1", marker)
	return nothing, err
}

func nothing() error { return nil }

func jump(sign time.Duration) func(*house, int, *rand.Rand) (func() error, error) {
	return func(h *house, i int, random *rand.Rand) (func() error, error) {
		m := h.masters[i]
		by := sign * between(random, 300*time.Millisecond, 10*time.Second)
		return func() error { return m.jump(-by) }, m.jump(by)
	}
}

// some picks one of the proxies' links to a master, or all.
func some(h *house, random *rand.Rand) int { return random.IntN(len(h.proxies)+1) - 1 }

func cut(h *house, i int, random *rand.Rand) (func() error, error) {
	m, which := h.masters[i], some(h, random)
	end := func() error { return m.eachLink(which, (*link).restore) }
	return end, m.eachLink(which, func(l *link) error { l.cut(); return nil })
}

func silence(h *house, i int, random *rand.Rand) (func() error, error) {
	m, which := h.masters[i], some(h, random)
	end := func() error { return m.eachLink(which, func(l *link) error { l.heal(); return nil }) }
	return end, m.eachLink(which, (*link).silence)
}

func slow(h *house, i int, random *rand.Rand) (func() error, error) {
	m, which := h.masters[i], some(h, random)
	by := between(random, 20*time.Millisecond, 200*time.Millisecond)
	end := func() error { return m.eachLink(which, func(l *link) error { l.heal(); return nil }) }
	return end, m.eachLink(which, func(l *link) error { return l.slow(by) })
}

func killProxy(h *house, i int, _ *rand.Rand) (func() error, error) {
	p := h.proxies[i]
	end := func() error {
		return insist(func() error {
			run, err := integration.StartProxy(p.o)
			if err == nil {
				p.run = run
			}
			return err
		})
	}
	return end, p.run.Kill()
}

func freezeProxy(h *house, i int, _ *rand.Rand) (func() error, error) {
	p := h.proxies[i]
	return func() error { return p.run.Signal(syscall.SIGCONT) }, p.run.Freeze()
}

// freezeClients stops clients wherever they are, also with a lock in hand: they
// find out by their own clock.
func freezeClients(h *house, i int, _ *rand.Rand) (func() error, error) {
	c := h.clients[i]
	return func() error { return c.signal(syscall.SIGCONT) }, c.signal(syscall.SIGSTOP)
}

func between(random *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(random.Int64N(int64(most-least)+1))
}
