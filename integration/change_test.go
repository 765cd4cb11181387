package integration

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// changeMasters is the program's order to make one set of another.
func changeMasters(t *testing.T, old, new []*Redis, even ...string) *exec.Cmd {
	t.Helper()
	args := append(append([]string{"change-masters"}, patient...), even...)
	for _, m := range old {
		args = append(args, "--from", m.Addr)
	}
	return exec.Command(program(t), append(args, flags(new)...)...)
}

func changed(t *testing.T, old, new []*Redis, even ...string) string {
	t.Helper()
	out, err := changeMasters(t, old, new, even...).CombinedOutput()
	if err != nil {
		t.Fatalf("change-masters: %v\n%s", err, out)
	}
	return string(out)
}

func pick(masters []*Redis, numbers ...int) []*Redis {
	list := make([]*Redis, len(numbers))
	for i, n := range numbers {
		list[i] = masters[n-1]
	}
	return list
}

// manyLocks are held by all masters, beside those that some hold.
const manyLocks = 2000

// holdUnevenly has A hold locks of every type and life, in two databases, a few of them on the
// first quorum of the masters alone, or on the last.
func holdUnevenly(t *testing.T, was talk, masters []*Redis) {
	t.Helper()
	for i := range manyLocks {
		was.send("SET", fmt.Sprint("lock:", i), "a", "NX", "PX", "120000")
	}
	for range manyLocks {
		was.receive("OK")
	}
	was.want("OK", "SET", "first", "a", "NX", "PX", "120000")
	was.want("OK", "SET", "last", "a", "NX", "PX", "120000")
	was.want("OK", "SET", "ever", "a", "NX")
	was.want("OK", "SELECT", "3")
	was.want(1, "HSET", "hash", "field", "a")
	was.want(1, "PEXPIRE", "hash", "120000")
	was.want("OK", "SELECT", "0")
	q := len(masters)/2 + 1
	for i, m := range masters {
		eventually(t, func() error {
			if n := ask(t, m, "EXISTS", "first", "last", "ever"); n != int64(3) {
				return fmt.Errorf("%v of 3 keys are there", n)
			}
			return nil
		})
		if i >= q {
			ask(t, m, "DEL", "first")
		}
		if i < len(masters)-q {
			ask(t, m, "DEL", "last", "ever")
		}
	}
}

// wantHeldStill wants all of these to be held until A releases them.
func wantHeldStill(t *testing.T, c talk, masters []*Redis) {
	t.Helper()
	for _, key := range []string{"first", "last", "ever", "lock:0", fmt.Sprint("lock:", manyLocks-1)} {
		c.want(nil, "SET", key, "b", "NX", "PX", "1000")
		c.want(1, "EVAL", releaseScript, "1", key, "a")
		c.want("OK", "SET", key, "b", "NX", "PX", "1000")
	}
	c.want("OK", "SELECT", "3")
	c.want("a", "HGET", "hash", "field")
	for _, m := range masters {
		if n := ask(t, m, "EXISTS", "lock:1", "lock:1000"); n != int64(2) {
			t.Errorf("%s holds %v of 2 locks", m.Addr, n)
		}
	}
}

// Every lock stays held while the set changes, in every database, whatever its type
// and life, and is released through the new set; a proxy of the old set that was
// forgotten grants nothing any more.
func TestLocksOutliveAChangeOfTheSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		old, new []int
	}{
		{"3 to 5", []int{1, 2, 3}, []int{1, 2, 3, 4, 5}},
		{"5 to 3", []int{1, 2, 3, 4, 5}, []int{1, 2, 3}},
		{"one replaced", []int{1, 2, 3}, []int{1, 2, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			masters := startMasters(t, 5)
			old, new := pick(masters, c.old...), pick(masters, c.new...)
			forgotten := startProxy(t, flags(old)...)
			was := dial(t, forgotten.Addr)
			holdUnevenly(t, was, old)

			refused, err := changeMasters(t, old, new).CombinedOutput()
			if err == nil || !strings.Contains(string(refused), fmt.Sprintf(":%d; stop them, or give the order with --even-so", forgotten.PID())) {
				t.Errorf("with a proxy of the old set there: %v\n%s", err, refused)
			}
			was.want("OK", "SET", "still", "a", "NX", "PX", "1000")
			out := changed(t, old, new, "--even-so")
			if !strings.Contains(out, "the new set; proxies with this configuration can serve") {
				t.Errorf("it says\n%s", out)
			}
			eventually(t, func() error { return noneVoting(t, forgotten) })
			was.wantNoQuorum("SET", "other", "b", "NX", "PX", "1000")

			p := startProxy(t, flags(new)...)
			c := dial(t, p.Addr)
			wantHeldStill(t, c, new)
			if out := changed(t, old, new); !strings.Contains(out, "nothing left to do") {
				t.Errorf("again:\n%s", out)
			}
		})
	}
}

// noneVoting is an error while a master votes.
func noneVoting(t *testing.T, p *Proxy) error {
	if n := voting(t, p); n > 0 {
		return fmt.Errorf("%d masters vote", n)
	}
	return nil
}

// The order is killed at moments that nobody chose, and given again until it ends.
func TestChangeOfTheSetThatIsKilledIsOrderedAgain(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 5)
	old, new := pick(masters, 1, 2, 3), pick(masters, 3, 4, 5)
	p := startProxy(t, flags(old)...)
	c := dial(t, p.Addr)
	const many = 3000
	for i := range many {
		c.send("SET", fmt.Sprint("lock:", i), "a", "NX", "PX", "120000")
	}
	for range many {
		c.receive("OK")
	}
	_, err := p.Terminate(patience)
	must(t, err)
	killed := 0
	for range 8 {
		order := changeMasters(t, old, new)
		must(t, order.Start())
		alarm := time.AfterFunc(rand.N(600*time.Millisecond), func() { order.Process.Kill() })
		if order.Wait() != nil {
			killed++
		}
		alarm.Stop()
	}
	t.Logf("killed %d times", killed)
	changed(t, old, new)
	for _, m := range new {
		if n := ask(t, m, "DBSIZE").(int64); n <= many { // the marker is one more
			t.Errorf("%s holds %d keys", m.Addr, n)
		}
	}
	c = dial(t, startProxy(t, flags(new)...).Addr)
	c.want(nil, "SET", "lock:7", "b", "NX", "PX", "1000")
}
