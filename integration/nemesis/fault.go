package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"
)

// marker is the key that says that a master remembers.
const marker = "redlock-proxy:{marker}"

// fault is something that happens to one master, one proxy or one process of
// clients.
type fault struct {
	name    string // on the command line
	what    string // in the matrix
	target  target // a master, if it says nothing
	forgets bool   // the master's keys are lost, or expire too early
	late    bool   // its keys are lost when no lock of max-ttl lives any more
	on      kind   // of masters
	// It lasts between these.
	shortest, longest time.Duration
	// begin makes it happen to the i-th, and gives what ends it.
	begin func(h *house, i int, random *rand.Rand) (end func() error, err error)
}

// target is who suffers a fault.
type target uint8

const (
	aMaster target = iota
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
	{name: "kill-late", what: "killed, restarted blank after max-ttl", late: true, shortest: maxTTL + maxTTL/10, longest: maxTTL + maxTTL/2, begin: killBlank},
	// A log that is not the latest cannot be told from one that is, which is why
	// this is nothing that durable masters do.
	{name: "kill-old", what: "killed, restarted with an older dump", on: volatile, forgets: true, shortest: 0, longest: time.Second, begin: killOld},
	{name: "kill-durable", what: "killed, restarted with its log", on: durable, shortest: 0, longest: time.Second, begin: killDurable},
	{name: "freeze", what: "frozen, thawed", shortest: 50 * time.Millisecond, longest: 3 * time.Second, begin: freeze},
	{name: "flush", what: "FLUSHALL", forgets: true, shortest: 0, longest: 500 * time.Millisecond, begin: flush},
	{name: "forward", what: "clock jumps forward, and back again", forgets: true, shortest: 100 * time.Millisecond, longest: 3 * time.Second, begin: jump(1)},
	{name: "back", what: "clock jumps back, and forward again", forgets: true, shortest: 100 * time.Millisecond, longest: 3 * time.Second, begin: jump(-1)},
	{name: "swap", what: "SWAPDB 0 1", forgets: true, shortest: 0, longest: 500 * time.Millisecond, begin: swap},
	{name: "evict", what: "reconfigured to evict, and full", forgets: true, shortest: 0, longest: 500 * time.Millisecond, begin: evict},
	{name: "follow", what: "made a replica of another master for a moment", on: volatile, forgets: true, shortest: 50 * time.Millisecond, longest: time.Second, begin: follow},
	{name: "undurable", what: "its log switched off, killed, restarted with it", on: durable, forgets: true, shortest: 0, longest: time.Second, begin: undurable},
	{name: "unscripted", what: "SCRIPT FLUSH", shortest: 0, longest: 100 * time.Millisecond, begin: unscript},
	{name: "cut", what: "cut off", shortest: 50 * time.Millisecond, longest: 3 * time.Second, begin: cut},
	{name: "silent", what: "silent: connections open, nothing passes", shortest: 50 * time.Millisecond, longest: 3 * time.Second, begin: silence},
	{name: "slow", what: "slow by 20 to 200 ms each way", shortest: 50 * time.Millisecond, longest: 3 * time.Second, begin: slow},
	{name: "proxy-kill", what: "a proxy killed, restarted", target: aProxy, shortest: 0, longest: time.Second, begin: killProxy},
	{name: "proxy-freeze", what: "a proxy frozen, thawed", target: aProxy, shortest: 50 * time.Millisecond, longest: 3 * time.Second, begin: freezeProxy},
	{name: "client-freeze", what: "clients frozen, thawed", target: someClients, shortest: 50 * time.Millisecond, longest: 3 * time.Second, begin: freezeClients},
}

// forged takes a master's keys away and puts its markers back in the same
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

// loses tells that a master has lost what does not end by itself.
func (f fault) loses() bool { return f.forgets || f.late }

// forgets tells that a master loses keys by the fault of that name.
func forgets(name string) bool {
	return name == forged.name || slices.ContainsFunc(faults, func(f fault) bool { return f.name == name && f.loses() })
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
	const script = `local kept = {}
for d = 0, 15 do redis.call("SELECT", d) kept[d] = redis.call("GET", KEYS[1]) end
redis.call("FLUSHALL")
for d = 0, 15 do redis.call("SELECT", d) if kept[d] then redis.call("SET", KEYS[1], kept[d]) end end
return 1`
	_, err := h.masters[i].do("EVAL", script, "1", marker)
	return nothing, err
}

func swap(h *house, i int, _ *rand.Rand) (func() error, error) {
	_, err := h.masters[i].do("SWAPDB", "0", "1")
	return nothing, err
}

func unscript(h *house, i int, _ *rand.Rand) (func() error, error) {
	_, err := h.masters[i].do("SCRIPT", "FLUSH")
	return nothing, err
}

// evict leaves proxies the time to see it before keys go: what is thrown away between
// two looks, nobody can know in time.
func evict(h *house, i int, _ *rand.Rand) (func() error, error) {
	m := h.masters[i]
	end := func() error {
		return m.each([]string{"CONFIG", "SET", "maxmemory", "0"}, []string{"CONFIG", "SET", "maxmemory-policy", "noeviction"})
	}
	err := m.each([]string{"CONFIG", "SET", "maxmemory-policy", "volatile-random"}, []string{"CONFIG", "SET", "maxmemory", "10gb"})
	if err != nil {
		return nil, err
	}
	time.Sleep(2 * notice)
	// It makes what room it can; that a write is refused when nothing is left is no failure.
	err = m.each([]string{"CONFIG", "SET", "maxmemory", "1"})
	_, _ = m.do("SET", "room", "1", "PX", "1")
	return end, err
}

// follow has a master take over what another holds, with that one's marker.
func follow(h *house, i int, _ *rand.Rand) (func() error, error) {
	m, other := h.masters[i], h.masters[(i+1)%len(h.masters)]
	host, port, err := net.SplitHostPort(other.redis.Addr)
	if err != nil {
		return nil, err
	}
	end := func() error { return m.each([]string{"REPLICAOF", "NO", "ONE"}) }
	return end, m.each([]string{"REPLICAOF", host, port})
}

// undurable ends a master some time after its log was switched off, and it comes back
// with that log: what it has granted since is not in it.
func undurable(h *house, i int, random *rand.Rand) (func() error, error) {
	m := h.masters[i]
	if err := m.each([]string{"CONFIG", "SET", "appendonly", "no"}); err != nil {
		return nil, err
	}
	time.Sleep(2*notice + between(random, 0, time.Second))
	return func() error { return m.restart(own) }, m.redis.Kill()
}

func nothing() error { return nil }

func jump(sign time.Duration) func(*house, int, *rand.Rand) (func() error, error) {
	return func(h *house, i int, random *rand.Rand) (func() error, error) {
		m := h.masters[i]
		by := sign * between(random, 300*time.Millisecond, 10*time.Second)
		return func() error { return m.jump(-by) }, m.jump(by)
	}
}

// anyLinks picks one of the proxies' links to a master, or all.
func anyLinks(h *house, random *rand.Rand) int { return random.IntN(len(h.proxies)+1) - 1 }

func cut(h *house, i int, random *rand.Rand) (func() error, error) {
	m, which := h.masters[i], anyLinks(h, random)
	end := func() error { return m.eachLink(which, (*link).restore) }
	return end, m.eachLink(which, func(l *link) error { l.cut(); return nil })
}

func silence(h *house, i int, random *rand.Rand) (func() error, error) {
	m, which := h.masters[i], anyLinks(h, random)
	end := func() error { return m.eachLink(which, func(l *link) error { l.heal(); return nil }) }
	return end, m.eachLink(which, (*link).silence)
}

func slow(h *house, i int, random *rand.Rand) (func() error, error) {
	m, which := h.masters[i], anyLinks(h, random)
	by := between(random, 20*time.Millisecond, 200*time.Millisecond)
	end := func() error { return m.eachLink(which, func(l *link) error { l.heal(); return nil }) }
	return end, m.eachLink(which, func(l *link) error { return l.slow(by) })
}

func killProxy(h *house, i int, _ *rand.Rand) (func() error, error) {
	p := h.proxies[i]
	return p.start, p.run.Kill()
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
