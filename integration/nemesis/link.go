package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// link is the way from one proxy to one master, through a toxiproxy.
type link struct {
	addr  string
	proxy *toxiproxy.Proxy
}

func newLink(to string) (*link, error) {
	// The server is never asked to listen: it is only where links keep house.
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := toxiproxy.NewProxy(server, to, "127.0.0.1:0", to)
	if err := p.Start(); err != nil {
		return nil, fmt.Errorf("link to %s: %w", to, err)
	}
	return &link{addr: p.Listen, proxy: p}, nil
}

// cut ends all connections and lets no new one through.
func (l *link) cut() { l.proxy.Stop() }

// restore undoes cut.
func (l *link) restore() error {
	if err := insist(l.proxy.Start); err != nil {
		return fmt.Errorf("restore the link at %s: %w", l.addr, err)
	}
	return nil
}

// silence drops what passes in either direction, on connections that stay
// open, until heal, which ends them.
func (l *link) silence() error { return l.add("timeout", `{"timeout": 0}`) }

// slow makes everything late, each way.
func (l *link) slow(by time.Duration) error {
	return l.add("latency", fmt.Sprintf(`{"latency": %d, "jitter": %d}`, by.Milliseconds(), by.Milliseconds()/4))
}

func (l *link) add(toxic, attributes string) error {
	for _, stream := range []string{"upstream", "downstream"} {
		text := fmt.Sprintf(`{"type": %q, "stream": %q, "attributes": %s}`, toxic, stream, attributes)
		if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(text)); err != nil {
			return fmt.Errorf("toxic %s at %s: %w", toxic, l.addr, err)
		}
	}
	return nil
}

// heal undoes silence and slow.
func (l *link) heal() { l.proxy.Toxics.ResetToxics(context.Background()) }

func (l *link) close() { l.proxy.Stop() }
