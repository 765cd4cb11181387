package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/integration"
)

// house is the redis-server that is asked directly, the masters and the proxy.
type house struct {
	dir     string
	direct  *integration.Redis
	masters []*integration.Redis
	proxy   *integration.Proxy
}

func open(o options) (h *house, err error) {
	h = &house{}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	if h.dir, err = os.MkdirTemp("", "bench-"); err != nil {
		return h, err
	}
	program := o.program
	if program == "" {
		if program, err = integration.BuildProxy(h.dir, false); err != nil {
			return h, err
		}
	}
	if h.direct, err = integration.StartRedis(integration.RedisOptions{}); err != nil {
		return h, err
	}
	args := []string{"--max-clients", strconv.Itoa(o.idle + 200)}
	for range o.masters {
		m, err := integration.StartRedis(integration.RedisOptions{})
		if err != nil {
			return h, err
		}
		h.masters = append(h.masters, m)
		args = append(args, "--master", m.Addr)
	}
	if h.proxy, err = integration.StartProxy(integration.ProxyOptions{Path: program, Args: args}); err != nil {
		return h, err
	}
	if err := h.awaitVoting(o.masters); err != nil {
		return h, err
	}
	if o.frozen {
		if err := h.masters[0].Freeze(); err != nil {
			return h, err
		}
		return h, h.awaitVoting(o.masters - 1)
	}
	return h, nil
}

func (h *house) awaitVoting(n int) error {
	for range 1000 {
		info, err := ask(h.proxy.Addr, "INFO", "quorum")
		if err != nil {
			return err
		}
		if strings.Count(info, "state=voting") == n {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("the proxy does not see %d masters vote\n%s", n, h.proxy.Log())
}

// blank takes all keys away, so that every SET NX meets the same.
func (h *house) blank(frozen bool) error {
	for i, m := range append([]*integration.Redis{h.direct}, h.masters...) {
		if frozen && i == 1 {
			continue
		}
		if _, err := ask(m.Addr, "FLUSHALL"); err != nil {
			return err
		}
	}
	return nil
}

// size is what the proxy occupies.
type size struct {
	resident   int
	goroutines int
}

func (s size) String() string {
	return fmt.Sprintf("%.1f MiB resident, %d goroutines", float64(s.resident)/(1<<20), s.goroutines)
}

func (h *house) size() (size, error) {
	resident, err := integration.ResidentBytes(h.proxy.PID())
	if err != nil {
		return size{}, err
	}
	info, err := ask(h.proxy.Addr, "INFO", "memory")
	if err != nil {
		return size{}, err
	}
	_, rest, _ := strings.Cut(info, "goroutines:")
	number, _, _ := strings.Cut(rest, "\r\n")
	goroutines, err := strconv.Atoi(number)
	return size{resident, goroutines}, err
}

func (h *house) close() error {
	var err error
	if h.proxy != nil {
		code, endErr := h.proxy.Terminate(15 * time.Second)
		if err = endErr; err == nil && code != 0 {
			err = fmt.Errorf("the proxy ended with exit code %d\n%s", code, h.proxy.Log())
		}
	}
	for _, r := range append(h.masters, h.direct) {
		if r != nil {
			err = errors.Join(err, r.Stop())
		}
	}
	return errors.Join(err, os.RemoveAll(h.dir))
}

// ask sends one command whose reply is a string.
func ask(addr string, args ...string) (string, error) {
	c, err := integration.Dial(addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	reply, err := c.Do(args...)
	if err != nil {
		return "", err
	}
	text, ok := reply.(string)
	if !ok {
		return "", fmt.Errorf("%q is answered %v", args, reply)
	}
	return text, nil
}
