package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"redlock-proxy/integration"
	"redlock-proxy/integration/clock"
)

// master is a real redis-server whose clock can jump, with a link from each
// proxy.
type master struct {
	busy  sync.Mutex // held by the fault that it suffers from
	redis *integration.Redis
	clock *clock.Clock
	dir   string
	links []*link // by proxy
}

// durably is how a redis-server is told to log all that it answers before it does.
var durably = []string{"--appendonly", "yes", "--appendfsync", "always", "--no-appendfsync-on-rewrite", "no"}

func startMaster(server, library, dir string, proxies int, k kind) (m *master, err error) {
	m = &master{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.stop())
		}
	}()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return m, err
	}
	if m.clock, err = clock.New(library, dir); err != nil {
		return m, err
	}
	args := []string{"--dir", dir}
	if k == durable {
		args = append(args, durably...)
	}
	m.redis, err = integration.StartRedis(integration.RedisOptions{Server: server, Args: args, Env: m.clock.Env()})
	if err != nil {
		return m, err
	}
	for range proxies {
		l, err := newLink(m.redis.Addr)
		if err != nil {
			return m, err
		}
		m.links = append(m.links, l)
	}
	return m, nil
}

func (m *master) stop() error {
	for _, l := range m.links {
		l.close()
	}
	var err error
	if m.redis != nil {
		err = m.redis.Stop()
	}
	if m.clock != nil {
		err = errors.Join(err, m.clock.Close())
	}
	return err
}

// do puts one command to the server itself.
func (m *master) do(args ...string) (any, error) {
	c, err := m.redis.Dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	reply, err := c.Do(args...)
	if f, ok := reply.(integration.Failure); ok {
		return nil, fmt.Errorf("%q at %s: %w", args[0], m.redis.Addr, f)
	}
	return reply, err
}

// each puts one command after the other to the server itself.
func (m *master) each(commands ...[]string) error {
	for _, args := range commands {
		if _, err := m.do(args...); err != nil {
			return err
		}
	}
	return nil
}

// memory is what a server remembers when it starts anew.
type memory uint8

const (
	blank memory = iota + 1 // nothing: its disk is new
	older                   // what was kept aside some time before its end
	own                     // everything; the durable do
)

// The files that a server reads when it starts, and the place of what is kept.
func (m *master) dump() string { return filepath.Join(m.dir, "dump.rdb") }
func (m *master) log() string  { return filepath.Join(m.dir, "appendonlydir") }
func (m *master) kept() string { return filepath.Join(m.dir, "kept") }

// keep puts aside what the server has now, which must not be a durable one.
func (m *master) keep() error {
	if _, err := m.do("SAVE"); err != nil {
		return err
	}
	return os.Rename(m.dump(), m.kept())
}

// restart starts the server anew after a kill.
func (m *master) restart(with memory) error {
	if with != own {
		if err := errors.Join(os.RemoveAll(m.dump()), os.RemoveAll(m.log())); err != nil {
			return err
		}
	}
	if with == older {
		if err := os.Rename(m.kept(), m.dump()); err != nil {
			return err
		}
	}
	return insist(m.redis.Restart)
}

// insist tries to listen again where something listened before: while it did
// not, somebody's connection may have been given the port for its own end.
func insist(start func() error) error {
	var err error
	for range 20 {
		if err = start(); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// jump moves its clock from where it is.
func (m *master) jump(d time.Duration) error {
	m.clock.Jump(d)
	return nil
}

// eachLink does something to the links of one proxy, or of all if it is -1.
func (m *master) eachLink(proxy int, do func(*link) error) error {
	var err error
	for i, l := range m.links {
		if proxy < 0 || i == proxy {
			err = errors.Join(err, do(l))
		}
	}
	return err
}
