package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"redlock-proxy/integration"
)

// patience is how long a client waits for an answer before it hangs up and
// does not know. A proxy has answered long before, unless it is frozen.
const patience = time.Second

// caller is one client: it asks one thing at a time, and writes down what it
// asked, what it heard, and when.
type caller struct {
	id      int
	proxies []string
	offset  int  // the number of the first of them
	pinned  bool // it speaks to one of them alone
	random  *rand.Rand
	seen    *history

	talk  *integration.Client // nil: not connected
	db    int                 // that talk has selected, by its place in databases
	tried int                 // proxies, one after the other
}

func newCaller(o clientOptions, id int, seen *history) caller {
	return caller{id: id, proxies: o.addrs(), offset: o.offset, random: rand.New(rand.NewPCG(o.seed, uint64(id))), seen: seen}
}

// connect takes the next proxy, if there is no connection: clients spread over
// them, and whoever has lost one tries another. It is false, after a moment, if
// that one does not listen.
func (c *caller) connect() bool {
	if c.talk != nil {
		return true
	}
	if !c.pinned {
		c.tried++
	}
	talk, err := integration.Dial(c.proxies[c.at()])
	if err != nil {
		time.Sleep(10 * time.Millisecond)
		return false
	}
	c.talk, c.db = talk, 0
	return true
}

// proxy is the number of the one that it speaks to.
func (c *caller) proxy() int { return c.offset + c.at() }

// at is which of its proxies it speaks to.
func (c *caller) at() int { return (c.id + c.tried) % len(c.proxies) }

func (c *caller) hangUp() {
	if c.talk != nil {
		c.talk.Close()
		c.talk = nil
	}
}

func (c *caller) say(args ...string) (reply any, err error) { return c.sayWithin(patience, args...) }

func (c *caller) sayWithin(d time.Duration, args ...string) (reply any, err error) {
	if err := c.talk.Send(args...); err != nil {
		return nil, err
	}
	return c.talk.ReceiveWithin(d)
}

func (c *caller) upTo(d time.Duration) time.Duration { return time.Duration(c.random.Int64N(int64(d))) }

func milliseconds(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }
