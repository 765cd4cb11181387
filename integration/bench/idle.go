package main

import (
	"errors"
	"fmt"
	"time"

	"redlock-proxy/integration"
)

// idleTrial opens connections that have each asked something once, and tells
// what they cost the proxy. This process is the other end of them.
func idleTrial(b *bench, r *report) (err error) {
	h, err := b.house(plan{masters: b.masters})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	before, err := h.size()
	if err != nil {
		return err
	}
	clients := make([]*integration.Client, 0, b.idle)
	defer func() {
		for _, c := range clients {
			c.Close()
		}
	}()
	for range b.idle {
		c, err := integration.Dial(h.proxy.Addr)
		if err != nil {
			return fmt.Errorf("connection %d: %w", len(clients)+1, err)
		}
		clients = append(clients, c)
		for refused := 0; ; refused++ {
			reply, err := c.Do("SET", fmt.Sprint("idle:", len(clients)), "v", "NX", "PX", "30000")
			if err != nil {
				return fmt.Errorf("connection %d: %w", len(clients), err)
			}
			if reply == "OK" {
				break
			}
			if refused == mostRefused {
				return fmt.Errorf("connection %d: SET is answered %v", len(clients), reply)
			}
		}
	}
	// What a connection keeps only for a moment after it was used is not counted.
	time.Sleep(time.Second)
	held, err := integration.ResidentBytes(h.proxy.PID())
	if err != nil {
		return err
	}
	kib := float64(held-before.resident) / float64(b.idle) / 1024
	note := fmt.Sprintf("%.0f MiB with them, %.0f before", float64(held)/(1<<20), float64(before.resident)/(1<<20))
	r.add(line{"idle", fmt.Sprintf("memory per idle connection, of %d, KiB", b.idle), b.atMost(12, 1.5), []float64{kib}, note})
	return nil
}
