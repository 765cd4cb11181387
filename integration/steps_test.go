package integration

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// WATCH, GET, MULTI, SET, EXEC is a compare-and-set: through one proxy or two before
// the same masters, every step that is there was answered yes.
func TestNoStepByWatchIsLost(t *testing.T) {
	t.Parallel()
	_, proxies := twoProxies(t, 3)
	for _, p := range [][]*Proxy{proxies[:1], proxies} {
		for _, set := range []func(n string) []string{
			func(n string) []string { return []string{"SET", "steps", n} },
			func(n string) []string {
				return []string{"EVAL", "return redis.call('SET', KEYS[1], ARGV[1])", "1", "steps", n}
			},
		} {
			dial(t, proxies[0].Addr).want("OK", "SET", "steps", "0")
			race(t, p, "steps", func(c *Client, r *racing) error {
				ok, err := stepByWatch(c, "steps", set)
				switch {
				case err == errMaybe:
					r.maybe.Add(1)
				case err != nil:
					return err
				case ok:
					r.yes.Add(1)
				}
				return nil
			})
		}
	}
}

// What scripts in transactions do is done by all masters or by none, though two proxies ask at once: what is moved from
// one list to another is neither lost nor there twice.
func TestScriptsInTransactionsMoveEachElementOnce(t *testing.T) {
	t.Parallel()
	_, proxies := twoProxies(t, 3)
	const elements = 60
	first := dial(t, proxies[0].Addr)
	for i := range elements {
		first.want(int64(i+1), "RPUSH", "from", strconv.Itoa(i))
	}
	var done sync.WaitGroup
	var maybe atomic.Int64
	took := make([][]any, 4)
	for i := range took {
		c := dial(t, proxies[i%2].Addr)
		done.Go(func() {
			for until := time.Now().Add(patience); time.Now().Before(until); {
				c.Do("MULTI")
				c.Do("EVAL", "local e = redis.call('LPOP', KEYS[1]) if e then redis.call('RPUSH', KEYS[2], e) end return e", "2", "from", "to")
				c.Do("INCR", "moves")
				reply, err := c.Do("EXEC")
				replies, ok := reply.([]any)
				switch {
				case err != nil:
					t.Errorf("a client lost its connection: %v", err)
					return
				case !ok:
					maybe.Add(1)
				case replies[0] == nil:
					return
				default:
					took[i] = append(took[i], replies[0])
				}
			}
		})
	}
	done.Wait()
	seen, all := map[any]bool{}, 0
	for _, list := range took {
		for _, e := range list {
			seen[e] = true
		}
		all += len(list)
	}
	if all != len(seen) || all+int(maybe.Load()) < elements {
		t.Errorf("%d were taken, %d of them different, and %d are not known, of %d", all, len(seen), maybe.Load(), elements)
	}
	first.want(int64(0), "LLEN", "from")
	first.want(int64(elements), "LLEN", "to")
}

// Every number that INCR answers is another one, and none is left out.
func TestNoCountIsAnsweredTwice(t *testing.T) {
	t.Parallel()
	masters, proxies := twoProxies(t, 3)
	for _, p := range [][]*Proxy{proxies[:1], proxies} {
		dial(t, proxies[0].Addr).want("OK", "SET", "count", "0")
		race(t, p, "count", counted(t))
	}

	// One of the masters dies in the middle of it.
	dial(t, proxies[0].Addr).want("OK", "SET", "count", "0")
	var killed sync.WaitGroup
	killed.Go(func() {
		time.Sleep(500 * time.Millisecond)
		if err := masters[0].Kill(); err != nil {
			t.Errorf("kill: %v", err)
		}
	})
	race(t, proxies, "count", counted(t))
	killed.Wait()
}

// counted takes a step by INCR.
func counted(t *testing.T) func(*Client, *racing) error {
	var answered sync.Map
	return func(c *Client, r *racing) error {
		reply, err := c.Do("INCR", "count")
		if err != nil {
			return err
		}
		n, ok := reply.(int64)
		if !ok {
			r.maybe.Add(1)
			return nil
		}
		r.yes.Add(1)
		if _, twice := answered.LoadOrStore(n, true); twice {
			t.Errorf("%d was answered twice", n)
		}
		return nil
	}
}

// Of masters that have come to count differently a quorum is brought up to one number. A master that
// is late in each of the tries would leave that undecided, so there are many.
func TestCountersOfSeveralMastersAreLevelled(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, append([]string{"--split-retries", "100"}, unhurried...)...)
	c := dial(t, p.Addr)
	for i, m := range masters {
		direct(t, m).want("OK", "SET", "levelled", []string{"11", "47", "46"}[i], "PX", milliseconds(ttl))
	}
	c.want(int64(47), "INCR", "levelled")
	c.want(int64(52), "INCRBY", "levelled", "5")
	c.want(int64(52), "INCRBY", "levelled", "0")
	for _, m := range []*Redis{masters[0], masters[2]} { // 1 has counted beyond them
		eventually(t, func() error {
			if got := ask(t, m, "GET", "levelled"); got != "52" {
				return fmt.Errorf("%s counts %v", m.Addr, got)
			}
			return nil
		})
		if left, _ := direct(t, m).do("PTTL", "levelled").(int64); left < ttl.Milliseconds()/2 || left > ttl.Milliseconds() {
			t.Errorf("it ends in %d ms", left)
		}
	}
	for i, m := range masters {
		direct(t, m).want("OK", "SET", "levelled", []string{"9", "-7", "4"}[i])
	}
	c.want(int64(3), "DECR", "levelled")
	c.want("3", "GET", "levelled")
}

// racing counts what clients that race were answered: yes, or that it is not known.
type racing struct{ yes, maybe atomic.Int64 }

// race has clients of the proxies take steps of one key, and compares how many were
// answered yes with how many are there.
func race(t *testing.T, proxies []*Proxy, key string, step func(*Client, *racing) error) {
	t.Helper()
	const clients = 6
	var r racing
	var done sync.WaitGroup
	const during, least = 1500 * time.Millisecond, 10
	began := time.Now()
	for i := range clients {
		c := dial(t, proxies[i%len(proxies)].Addr)
		done.Go(func() {
			for time.Since(began) < during || r.yes.Load() < least && time.Since(began) < patience {
				if err := step(c.Client, &r); err != nil {
					t.Errorf("a client lost its connection: %v", err)
					return
				}
			}
		})
	}
	done.Wait()
	yes, maybe := r.yes.Load(), r.maybe.Load()
	for _, p := range proxies {
		there, err := strconv.ParseInt(dial(t, p.Addr).text("GET", key), 10, 64)
		must(t, err)
		if there < yes || there > yes+maybe || yes < least {
			t.Errorf("through %d proxies %d steps were answered yes, %d may have been taken, and %d are there", len(proxies), yes, maybe, there)
		}
	}
	t.Logf("through %d proxies %d steps, and %d that are not known", len(proxies), yes, maybe)
}

// errMaybe says that a step may have been taken or not.
var errMaybe = errors.New("the masters did not decide")

// stepByWatch adds one to a key by the command that sets it to a number, unless somebody else was quicker.
func stepByWatch(c *Client, key string, set func(n string) []string) (bool, error) {
	if _, err := c.Do("WATCH", key); err != nil {
		return false, err
	}
	seen, err := c.Do("GET", key)
	if err != nil {
		return false, err
	}
	text, ok := seen.(string)
	if !ok {
		_, err := c.Do("UNWATCH")
		return false, err
	}
	n, _ := strconv.Atoi(text)
	var reply any
	for _, args := range [][]string{{"MULTI"}, set(strconv.Itoa(n + 1)), {"EXEC"}} {
		if reply, err = c.Do(args...); err != nil {
			return false, err
		}
	}
	if _, failed := reply.(Failure); failed {
		return false, errMaybe
	}
	return reflect.DeepEqual(reply, []any{"OK"}), nil
}
