package main

import (
	"fmt"
	"time"

	"redlock-proxy/integration"
)

// holdIdle opens connections that have each asked something once, and tells
// what they cost the proxy. This process is the other end of them.
func holdIdle(h *house, n int) error {
	before, err := h.size()
	if err != nil {
		return err
	}
	clients := make([]*integration.Client, 0, n)
	defer func() {
		for _, c := range clients {
			c.Close()
		}
	}()
	for range n {
		c, err := integration.Dial(h.proxy.Addr)
		if err != nil {
			return fmt.Errorf("connection %d: %w", len(clients)+1, err)
		}
		clients = append(clients, c)
		if reply, err := c.Do("PING"); err != nil || reply != "PONG" {
			return fmt.Errorf("connection %d: PING is answered %v, %w", len(clients), reply, err)
		}
	}
	time.Sleep(time.Second)
	held, err := h.size()
	if err != nil {
		return err
	}
	for i, c := range clients {
		if reply, err := c.Do("PING"); err != nil || reply != "PONG" {
			return fmt.Errorf("idle connection %d: PING is answered %v, %w", i+1, reply, err)
		}
	}
	fmt.Printf("%d idle connections: %v before, %v with them: %d bytes a connection.\n",
		n, before, held, (held.resident-before.resident)/n)
	return nil
}
