package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/integration"
)

// house is a proxy and its masters, and one Redis that is asked directly.
type house struct {
	direct  *integration.Redis
	masters []*integration.Redis
	lines   []*delayLine // before the masters, if they are far away
	args    []string     // of the proxy
	proxy   *integration.Proxy
}

// plan is how a house is built.
type plan struct {
	masters int
	far     time.Duration // round trip to the masters, and to the one asked directly
	args    []string      // of the proxy
}

// house builds one. Flushing through the proxy keeps what it has written for
// itself, so it is allowed.
func (b *bench) house(p plan) (h *house, err error) {
	h = &house{}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	if h.direct, err = integration.StartRedis(manyClients); err != nil {
		return h, err
	}
	h.args = append([]string{"--user", "default on nopass ~* &* +@all", "--max-clients", strconv.Itoa(b.idle + 1000)}, slices.Concat(b.args, p.args)...)
	for range p.masters {
		m, err := integration.StartRedis(manyClients)
		if err != nil {
			return h, err
		}
		h.masters = append(h.masters, m)
		addr := m.Addr
		if p.far > 0 {
			line, err := newDelayLine(addr, p.far)
			if err != nil {
				return h, err
			}
			h.lines = append(h.lines, line)
			addr = line.addr
		}
		h.args = append(h.args, "--master", addr)
	}
	if h.proxy, err = integration.StartProxy(integration.ProxyOptions{Path: b.program, Args: h.args}); err != nil {
		return h, err
	}
	return h, awaitVoting(h.proxy.Addr, p.masters)
}

var manyClients = integration.RedisOptions{Args: []string{"--maxclients", "15000"}}

func awaitVoting(addr string, n int) error {
	var state string
	for range 6000 {
		info, err := ask(addr, "INFO", "quorum")
		if err != nil {
			return err
		}
		if strings.Count(info, "state=voting") == n {
			return nil
		}
		state = info
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("the proxy does not see %d masters vote:\n%s", n, state)
}

// blank takes the keys away behind the proxy and from the Redis asked directly.
func (h *house) blank() error {
	return errors.Join(flush(h.proxy.Addr), flush(h.direct.Addr))
}

func flush(addr string) error {
	reply, err := ask(addr, "FLUSHALL", "ASYNC")
	if err == nil && reply != "OK" {
		err = fmt.Errorf("FLUSHALL is answered %s", reply)
	}
	return err
}

func (h *house) watchMasters() watched {
	var children []*integration.Child
	for _, m := range h.masters {
		children = append(children, m.Child)
	}
	return watch(watchedRedis, children...)
}

// asked is the side of the Redis that is asked directly.
func (h *house) asked(load func(time.Duration) (sample, error)) *side {
	return &side{name: "direct", load: load, watched: []watched{watch(watchedRedis, h.direct.Child)}}
}

// through is the side of the proxy.
func (h *house) through(load func(time.Duration) (sample, error)) *side {
	return &side{name: "proxy", load: load, watched: []watched{watch(watchedProxy, h.proxy.Child), h.watchMasters()}}
}

func (h *house) close() error {
	var err error
	if h.proxy != nil {
		code, endErr := h.proxy.Terminate(time.Minute)
		if err = endErr; err == nil && code != 0 {
			err = fmt.Errorf("the proxy ended with exit code %d\n%s", code, h.proxy.Log())
		}
	}
	for _, line := range h.lines {
		err = errors.Join(err, line.close())
	}
	for _, r := range append(slices.Clone(h.masters), h.direct) {
		if r != nil {
			err = errors.Join(err, r.Stop())
		}
	}
	return err
}
