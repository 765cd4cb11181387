package proxy

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// contender is a client that asks for locks, holds them, lets them go or end, waits, sends more, or goes away.
type contender struct {
	*rand.Rand
	t       *testing.T
	r       *rig
	nc      net.Conn
	in      *bufio.Reader
	n       int
	tokens  int
	holding []*atomic.Int32
	waits   time.Duration
}

func (c *contender) dial() {
	c.nc = c.r.dial().nc
	c.in = bufio.NewReader(c.nc)
}

func (c *contender) ask(command string) string {
	c.nc.Write([]byte(command + "\r\n"))
	return c.answer()
}

func (c *contender) answer() string {
	line, err := c.in.ReadString('\n')
	if err != nil {
		c.t.Errorf("contender %d: %v", c.n, err)
	}
	return strings.TrimSuffix(line, "\r\n")
}

// act is one thing that a client does.
func (c *contender) act() {
	which := c.IntN(len(c.holding))
	key := fmt.Sprint("k", which)
	c.tokens++
	token, ttl := fmt.Sprint(c.n, "-", c.tokens), 20_000
	expires := c.IntN(8) == 0
	if expires {
		ttl = 50
	}
	asked := time.Now()
	set := fmt.Sprintf("SET %s %s NX PX %d", key, token, ttl)
	if c.IntN(8) == 0 { // it sends more, at once or while it waits
		c.nc.Write([]byte(set + "\r\n"))
		time.Sleep(time.Duration(c.IntN(3)) * 10 * time.Millisecond)
		c.nc.Write([]byte("PING\r\n"))
		sent := time.Now()
		got := c.answer()
		if d := time.Since(sent); d > 10*roundTrip {
			c.t.Errorf("contender %d was answered %s after %v, though it had sent more", c.n, got, d)
		}
		c.answer()
		if got == "+OK" {
			c.hold(which, token, expires)
		}
		return
	}
	if c.IntN(10) == 0 { // it goes away
		c.nc.Write([]byte(set + "\r\n"))
		time.Sleep(time.Duration(c.IntN(40)) * time.Millisecond)
		c.nc.Close()
		c.dial()
		return
	}
	switch got, took := c.ask(set), time.Since(asked); {
	case got == "+OK":
		c.hold(which, token, expires)
	case took < c.waits:
		c.t.Errorf("contender %d was refused after %v: %s", c.n, took, got)
	case took > c.waits+20*roundTrip:
		c.t.Errorf("contender %d waited %v", c.n, took)
	}
}

// hold is what a holder does: nobody else is one meanwhile.
func (c *contender) hold(which int, token string, expires bool) {
	if n := c.holding[which].Add(1); n != 1 {
		c.t.Errorf("there are %d holders", n)
	}
	if expires {
		time.Sleep(30 * time.Millisecond)
		c.holding[which].Add(-1)
		return
	}
	time.Sleep(time.Duration(c.IntN(20)) * time.Millisecond)
	c.holding[which].Add(-1)
	if got := c.ask(fmt.Sprintf("DELEX k%d IFEQ %s", which, token)); got != ":1" {
		c.t.Errorf("contender %d released nothing: %s", c.n, got)
	}
}

// Many that wait, whatever they do: there are never two holders, nobody is refused before his time or waits longer,
// and no lock is free for long while somebody waits for it. When all have gone nothing is left.
func TestLinesInAllThatClientsDo(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			waits := []time.Duration{60 * time.Millisecond, 5 * time.Second}[seed%2]
			r, l := newWaitingRig(t, waits)
			holding := []*atomic.Int32{{}, {}, {}}
			done := make(chan struct{})
			const contenders = 30
			for i := range contenders {
				c := &contender{Rand: rand.New(rand.NewPCG(seed, uint64(i))), t: t, r: r, n: i, holding: holding, waits: waits}
				c.dial()
				go func() {
					for range 40 {
						c.act()
						time.Sleep(time.Duration(c.IntN(10)) * time.Millisecond)
					}
					c.nc.Close()
					done <- struct{}{}
				}()
			}
			l.watch(t, r)
			for range contenders {
				<-done
			}
			time.Sleep(10 * time.Second)
			r.server.room.mu.Lock()
			if n := r.server.room.count.Load(); n != 0 || len(r.server.room.lines) != 0 {
				t.Errorf("seed %d: %d wait in %d lines, and nobody is there", seed, n, len(r.server.room.lines))
			}
			r.server.room.mu.Unlock()
			r.end()
		})
	}
}

// watch looks for a while whether a lock is free for which somebody waits.
func (l *locks) watch(t *testing.T, r *rig) {
	since := make(map[string]time.Time)
	for range 20_000 {
		time.Sleep(roundTrip / 2)
		r.server.room.mu.Lock()
		l.mu.Lock()
		for at := range r.server.room.lines {
			_, held := l.find(at.key)
			switch began, known := since[at.key]; {
			case held:
				delete(since, at.key)
			case !known:
				since[at.key] = time.Now()
			case time.Since(began) > 12*roundTrip:
				t.Errorf("%s is free for %v, and somebody waits for it", at.key, time.Since(began))
				delete(since, at.key)
			}
		}
		for key := range since {
			if r.server.room.lines[resource{0, key}] == nil {
				delete(since, key)
			}
		}
		l.mu.Unlock()
		r.server.room.mu.Unlock()
	}
	if n := l.count(quorum.Acquire); n == 0 {
		t.Error("nobody has asked for a lock")
	}
}
