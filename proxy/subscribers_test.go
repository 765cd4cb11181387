package proxy

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

func TestEveryWayOutEndsSubscriptions(t *testing.T) {
	for name, leave := range map[string]func(r *rig, c *client){
		"QUIT":  func(r *rig, c *client) { c.send("QUIT\r\n") },
		"RESET": func(r *rig, c *client) { c.send("RESET\r\n") },
		"unsubscribed": func(r *rig, c *client) {
			c.send("UNSUBSCRIBE\r\nPUNSUBSCRIBE\r\n")
		},
		"closed":  func(r *rig, c *client) { c.nc.Close() },
		"garbage": func(r *rig, c *client) { c.send("*1\r\n+x\r\n") },
		"killed": func(r *rig, c *client) {
			other := r.dial()
			other.send("CLIENT KILL TYPE pubsub\r\n")
			other.expect(":1\r\n")
		},
		"panic": func(r *rig, c *client) { c.send("panic\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{})
				c := r.dial()
				c.send("SUBSCRIBE a b\r\nPSUBSCRIBE a*\r\n")
				c.drain()
				if n := r.engine.deliver("a", "m"); n != 2 {
					t.Fatalf("%d receivers", n)
				}
				c.drain()
				leave(r, c)
				c.drain()
				time.Sleep(time.Minute)
				synctest.Wait()
				of := &r.server.subscribers
				of.mu.Lock()
				if len(of.channels) > 0 || len(of.patterns) > 0 || len(of.owed) > 0 {
					t.Errorf("left behind: %v %v %v", of.channels, of.patterns, of.owed)
				}
				of.mu.Unlock()
				if n := r.engine.deliver("a", "m"); n != 0 {
					t.Errorf("%d receivers afterwards", n)
				}
				r.end()
			})
		})
	}
}

// A subscriber that does not read is cut off at the limit, and neither the
// publisher nor other subscribers notice.
func TestSubscriberThatDoesNotReadIsCutOff(t *testing.T) {
	r := newRig(t, Config{Limits: Limits{MaxUnread: 1 << 20}})
	slow, quick := r.dialTCP(), r.dialTCP()
	for _, c := range []*client{slow, quick} {
		c.send("SUBSCRIBE a\r\n")
		c.expect(pushed("*", "subscribe", "a", ":1"))
	}
	message := strings.Repeat("x", 100<<10)
	for i := 0; r.engine.deliver("a", message) == 2; i++ {
		quick.expect(pushed("*", "message", "a", message))
		if i == 1000 {
			t.Fatal("it was given 100 MB")
		}
	}
	quick.expect(pushed("*", "message", "a", message))
	if n := r.engine.deliver("a", "last"); n != 1 {
		t.Errorf("%d receivers afterwards", n)
	}
	quick.expect(pushed("*", "message", "a", "last"))
	if n := r.server.stats.outputLimit.Load(); n != 1 {
		t.Errorf("%d connections are counted as cut off", n)
	}
	if !strings.Contains(r.log.String(), "does not read its replies") {
		t.Error("the log does not tell")
	}
}

// As by Redis's soft limit: whoever is owed much for a minute is cut off, though it reads all
// the time, and whoever was owed little in between is not.
func TestSubscriberThatReadsTooSlowlyIsCutOff(t *testing.T) {
	for name, catchesUp := range map[string]bool{"all the time": false, "for a while": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{Limits: Limits{MaxUnread: 400_000}})
				c := r.dial()
				c.send("SUBSCRIBE a\r\n")
				c.expect(pushed("*", "subscribe", "a", ":1"))
				message := strings.Repeat("x", 10_000)
				text := pushed("*", "message", "a", message)
				for range 20 {
					r.engine.deliver("a", message)
				}
				for i := range 13 { // for more than a minute
					time.Sleep(5 * time.Second)
					c.expect(text)
					if catchesUp && i == 6 {
						// All but one: what is written at once counts until all of it is read.
						for range 18 {
							c.expect(text)
						}
						synctest.Wait()
						for range 18 {
							r.engine.deliver("a", message)
						}
					}
					want := 1
					if i == 12 && !catchesUp {
						want = 0
					}
					if n := r.engine.deliver("a", message); n != want {
						t.Fatalf("%d receivers after %d s", n, 5*(i+1))
					}
				}
				r.end()
			})
		})
	}
}

func TestSilentSubscriberIsNotClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Timeout: time.Minute})
		c := r.dial()
		c.send("SUBSCRIBE a\r\n")
		c.expect(pushed("*", "subscribe", "a", ":1"))
		time.Sleep(10 * time.Minute)
		r.engine.deliver("a", "m")
		c.expect(pushed("*", "message", "a", "m"))
		c.send("UNSUBSCRIBE\r\n")
		c.expect(pushed("*", "unsubscribe", "a", ":0"))
		time.Sleep(2 * time.Minute)
		c.expectEnd("")
		r.end()
	})
}

func TestSubscriberDoesNotHoldUpAShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("SUBSCRIBE a\r\n")
		c.expect(pushed("*", "subscribe", "a", ":1"))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		began := time.Now()
		if err := r.server.Shutdown(ctx); err != nil || time.Since(began) > time.Second {
			t.Errorf("Shutdown: %v after %v", err, time.Since(began))
		}
		c.expectEnd("")
		r.end()
	})
}

func TestSubscribersAreToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		a, b, c := r.dial(), r.dial(), r.dial()
		a.send("SUBSCRIBE x y\r\nPSUBSCRIBE z*\r\n")
		a.drain()
		b.send("SUBSCRIBE x\r\n")
		b.drain()
		c.send("CLIENT LIST TYPE pubsub\r\n")
		list := c.bulk()
		if strings.Count(list, " flags=P ") != 2 || !strings.Contains(list, " sub=2 psub=1 ssub=0 ") || !strings.Contains(list, " sub=1 psub=0 ") {
			t.Errorf("CLIENT LIST TYPE pubsub: %s", list)
		}
		c.send("CLIENT LIST TYPE normal\r\n")
		if list := c.bulk(); strings.Count(list, "\n") != 1 || !strings.Contains(list, " flags=N ") {
			t.Errorf("CLIENT LIST TYPE normal: %s", list)
		}
		r.engine.stands(quorum.Status{Subscriptions: 3, MessagesPublished: 4, MessagesShort: 5, MessagesReceived: 6})
		c.send("INFO everything\r\n")
		info := c.bulk()
		for _, want := range []string{
			"pubsub_clients:2", "pubsub_channels:2", "pubsub_patterns:1", "pubsubshard_channels:0",
			"subscriptions:3", "messages_published:4", "messages_short:5", "messages_received:6",
		} {
			if !strings.Contains(info, want+"\r\n") {
				t.Errorf("INFO has no %s", want)
			}
		}
		r.end()
	})
}
