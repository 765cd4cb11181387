package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"redlock-proxy/integration"
)

// endless: every answer is to be an error, and to come soon. What has not come when the
// assault is over is known to have taken at least so long.
func (a *assault) endless() error {
	const loop = "while true do end"
	return a.clients(20, true, func(w *wire, i int) error {
		text := loop
		if i%2 == 1 {
			text = "redis.call('set', KEYS[1], 'x') " + loop
		}
		key := fmt.Sprintf("endless:%d", i)
		a.begun()
		for {
			asked := time.Now()
			failure, err := w.do("EVAL", text, "1", key)
			a.answered(failure, err, time.Since(asked))
			if err != nil {
				return err
			}
			a.done.Add(1)
		}
	})
}

// turncoats: scripts that do next to nothing until they are known for that, and have no end
// when many ask for them at once, by connections of which nothing is known.
func (a *assault) turncoats() error {
	const clients, light = 64, 32
	return a.clients(1, true, func(w *wire, _ int) error {
		for n := 0; ; n++ {
			text := fmt.Sprintf("local n = %d.%d while #ARGV > 0 do end return n", a.turn, n)
			for range light {
				if failure, err := w.do("EVAL", text, "0"); err != nil || failure != "" {
					return errors.Join(err, errors.New(failure))
				}
			}
			var all, dialed sync.WaitGroup
			dialed.Add(clients)
			for range clients {
				all.Go(func() {
					stranger, err := a.dial(true)
					dialed.Done()
					if err != nil {
						return
					}
					defer a.hangUp(stranger)
					dialed.Wait()
					asked := time.Now()
					failure, err := stranger.do("EVAL", text, "0", "now")
					a.answered(failure, err, time.Since(asked))
					a.done.Add(1)
				})
			}
			dialed.Wait()
			a.begun()
			all.Wait()
		}
	})
}

// collisions: arguments that are kept in one place, so that each is compared with all before it.
func (a *assault) collisions() error {
	eval := append([]string{"EVAL", "return #ARGV", "0"}, integration.Colliding(1000)...)
	packet := integration.Encode(eval...)
	return a.clients(20, true, func(w *wire, _ int) error {
		a.begun()
		for {
			if _, err := w.Write(packet); err != nil {
				return err
			}
			failure, err := w.skip()
			if err != nil {
				return err
			}
			if failure != "" { // they do not collide so much that it may be
				a.refused(failure)
			}
			a.done.Add(1)
		}
	})
}

// answered notes an answer that is to be an error.
func (a *assault) answered(failure string, err error, after time.Duration) {
	cut := err != nil && !a.isOver() // and not by us
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tally.Slowest = max(a.tally.Slowest, after)
	switch {
	case cut:
		a.tally.Wrong = addTo(a.tally.Wrong, map[string]int{"the connection's end": 1})
	case err == nil && failure == "":
		a.tally.Wrong = addTo(a.tally.Wrong, map[string]int{"no error": 1})
	case err == nil:
		a.tally.Answers++
	}
}

// texts: the scripts have another number in each turn, too.
func (a *assault) texts() error {
	const clients, each = 2, 10_000
	return a.clients(clients, true, func(w *wire, i int) error {
		a.begun()
		for n := range each {
			text := fmt.Sprintf("local n = %d return redis.call('get', KEYS[1])", (a.turn*clients+i)*each+n)
			failure, err := w.do("EVAL", text, "1", "k")
			if err != nil {
				return err
			}
			if failure != "" {
				a.refused(failure)
			}
			a.done.Add(1)
		}
		<-a.over
		return errOver
	})
}
