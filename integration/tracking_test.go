package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

// cacher is a client that keeps what it has read, until it is told that it has changed.
type cacher struct {
	client rueidis.Client
	bcast  bool
}

func cachers(t *testing.T, proxies []*Proxy) (all []cacher) {
	for i, options := range [][]string{nil, {"OPTIN", "NOLOOP"}, {"BCAST", "PREFIX", "k"}, {"BCAST"}} {
		c, err := rueidis.NewClient(rueidis.ClientOption{
			InitAddress: []string{proxies[i%2].Addr}, ForceSingleClient: true, ClientTrackingOptions: options, PipelineMultiplex: -1,
			Dialer: net.Dialer{Timeout: patience},
		})
		must(t, err)
		t.Cleanup(c.Close)
		all = append(all, cacher{c, len(options) > 0 && options[0] == "BCAST"})
	}
	return all
}

// get is what the client believes of a key, and whether he has asked nobody.
func (c cacher) get(key string) (value string, cached bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r := c.client.DoCache(ctx, c.client.B().Get().Key(key).Cache(), time.Hour)
	value, err = r.ToString()
	if rueidis.IsRedisNil(err) {
		value, err = "", nil
	}
	return value, r.IsCacheHit(), err
}

// Whoever changes a key, by whatever, and whatever becomes of a master meanwhile: no client keeps an old value.
func TestNoClientKeepsAnOldValue(t *testing.T) {
	for name, strike := range map[string]func(m *Redis) error{
		"nothing fails":                    func(m *Redis) error { return nil },
		"a master is killed":               func(m *Redis) error { return m.Kill() },
		"a master freezes":                 func(m *Redis) error { time.AfterFunc(300*time.Millisecond, func() { m.Thaw() }); return m.Freeze() },
		"a master is restarted, blank":     func(m *Redis) error { return errors.Join(m.Kill(), m.Restart()) },
		"a master's connections are ended": func(m *Redis) error { return tell(m, "CLIENT", "KILL", "TYPE", "normal") },
		"a master is flushed":              func(m *Redis) error { return tell(m, "FLUSHALL") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			masters, proxies := twoProxies(t, 3)
			readers := cachers(t, proxies)
			keys := []string{"k0", "k1", "k2", "k3", "k4", "k5"}
			var hits atomic.Int64
			for round := range 4 {
				changing(t, proxies, readers, keys, &hits, func() {
					if round == 1 {
						must(t, strike(masters[2]))
					}
				})
				for _, key := range keys {
					wantNobodyBehind(t, proxies, readers, key)
				}
			}
			if hits.Load() == 0 {
				t.Error("nothing was read from a cache")
			}
			t.Logf("%d times a cache had it", hits.Load())
		})
	}
}

func tell(m *Redis, args ...string) error {
	c, err := Dial(m.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Do(args...)
	return err
}

// changing has keys be changed and read for a while, with something that happens in the midst of it.
func changing(t *testing.T, proxies []*Proxy, readers []cacher, keys []string, hits *atomic.Int64, strike func()) {
	var writing, reading sync.WaitGroup
	over := make(chan struct{})
	for i := range 2 {
		c := dial(t, proxies[i].Addr)
		writing.Go(func() {
			for n := range 60 {
				key, value := keys[rand.N(len(keys))], strconv.Itoa(rand.N(1000))
				switch rand.N(5) {
				case 0:
					c.do("DEL", key)
				case 1:
					c.do("SET", key, value, "PX", strconv.Itoa(1+rand.N(50)))
				case 2:
					c.do("EVAL", "return redis.call('set', KEYS[1], ARGV[1])", "1", key, value)
				default:
					c.do("SET", key, value)
				}
				if i == 0 && n == 30 {
					strike()
				}
				time.Sleep(time.Duration(rand.N(3)) * time.Millisecond)
			}
		})
	}
	for _, r := range readers {
		reading.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if _, cached, _ := r.get(keys[rand.N(len(keys))]); cached {
					hits.Add(1)
				}
			}
		})
	}
	writing.Wait()
	close(over)
	reading.Wait()
}

// wantNobodyBehind waits until all clients believe of a key what is so. One that keeps an old value does so for an hour.
func wantNobodyBehind(t *testing.T, proxies []*Proxy, readers []cacher, key string) {
	t.Helper()
	c := dial(t, proxies[0].Addr)
	defer c.Close()
	eventually(t, func() error {
		is := fmt.Sprint(c.do("GET", key))
		switch {
		case is == "<nil>":
			is = ""
		case strings.HasPrefix(is, "NOQUORUM"): // what one has missed, and another forgotten
			c.do("DEL", key)
			return errors.New(is)
		}
		for i, r := range readers {
			if value, cached, err := r.get(key); err != nil || value != is {
				return fmt.Errorf("client %d believes that %s is %q (from its cache: %t, %v), and it is %q", i, key, value, cached, err, is)
			}
		}
		return nil
	})
}
