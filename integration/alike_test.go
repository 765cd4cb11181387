package integration

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// However two proxies' clients contend for one key, a while later all masters hold the same of it, and go on with one of them
// away.
func TestMastersAreAlikeAfterContention(t *testing.T) {
	t.Parallel()
	masters := durableMasters(t, 3)
	var proxies []*Proxy
	for range 2 {
		p := startProxy(t, append(flags(masters), "--acquire-timeout", "250ms")...)
		awaitVoting(t, p, len(masters))
		proxies = append(proxies, p)
	}
	const script = "redis.call('SET', KEYS[2], ARGV[1]) return redis.call('INCR', KEYS[1])"
	kinds := []struct{ change, undo, read string }{
		{"INCR number", "", "GET number"},
		{"HSET hash %s 1", "", "HLEN hash"},
		{"SADD set %s", "SPOP set", "SCARD set"},
		{"ZADD zset 1 %s", "ZPOPMIN zset", "ZCARD zset"},
		{"RPUSH list %s", "LPOP list", "LLEN list"},
		{"EVAL " + script + " 2 {t}n {t}who %s", "", "GET {t}n"},
	}
	command := func(text, with string) []string {
		text, tail, scripted := strings.Cut(text, script)
		if words := strings.Fields(strings.ReplaceAll(text, "%s", with)); !scripted {
			return words
		}
		return slices.Concat([]string{"EVAL", script}, strings.Fields(strings.ReplaceAll(tail, "%s", with)))
	}
	var done sync.WaitGroup
	for i := range 2 * len(kinds) {
		c, k := dial(t, proxies[i%2].Addr), kinds[i/2]
		done.Go(func() {
			for n := range 150 {
				if _, err := c.Do(command(k.change, fmt.Sprint(i, "-", n))...); err != nil {
					t.Error(err)
				}
				if k.undo == "" || n%3 == 0 {
					continue
				}
				if _, err := c.Do(command(k.undo, "")...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	for _, k := range kinds {
		var held []string
		for until := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
			if held = nil; time.Now().After(until) {
				break
			}
			for _, m := range masters {
				held = append(held, fmt.Sprint(ask(t, m, command(k.read, "")...)))
			}
			if len(slices.Compact(slices.Clone(held))) == 1 {
				break
			}
		}
		if len(held) == 0 {
			t.Errorf("masters differ in %q", k.read)
		}
	}
	must(t, masters[0].Kill())
	for i, p := range proxies {
		c := dial(t, p.Addr)
		for _, k := range kinds {
			for until := time.Now().Add(patience); isNoQuorum(c.do(command(k.change, fmt.Sprint("last", i))...)); {
				if time.Now().After(until) {
					t.Errorf("%q has no quorum with one master away", k.change)
					break
				}
			}
		}
	}
}
