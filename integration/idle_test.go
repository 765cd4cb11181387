package integration

import "testing"

// TestTenThousandIdleClientsAreHeld: as many as max-clients allows by default.
func TestTenThousandIdleClientsAreHeld(t *testing.T) {
	p := launch(t, ProxyOptions{Args: patient})
	const most = 10_000
	clients := make([]*Client, 0, most)
	defer func() {
		for _, c := range clients {
			c.Close()
		}
	}()
	for len(clients) < most {
		c, err := Dial(p.Addr)
		if err != nil {
			t.Fatalf("client %d: %v", len(clients)+1, err)
		}
		if reply, err := c.Do("PING"); err != nil || reply != "PONG" {
			t.Fatalf("client %d: PING is answered %v, %v", len(clients)+1, reply, err)
		}
		clients = append(clients, c)
	}
	for i, c := range clients {
		if reply, err := c.Do("PING"); err != nil || reply != "PONG" {
			t.Fatalf("idle client %d: PING is answered %v, %v", i+1, reply, err)
		}
	}
	t.Logf("%d MiB with %d clients", residentBytes(t, p.Child)>>20, most)
	wantSmall(t, p.Child, 150<<20)
	cycle(talk{clients[0], t}, "k")
}
