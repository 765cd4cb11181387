package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"redlock-proxy/integration"
)

// house is what is attacked: a proxy with its masters, and one Redis.
type house struct {
	masters []*integration.Redis
	liar    *liar // before the last master; nil where nobody lies
	proxy   *integration.Proxy
	one     *integration.Redis
}

const password = "secret"

func (b *besieged) house(a attack) (h *house, err error) {
	h = &house{}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	// Replies that nobody reads have no bound in Redis as it comes, and the machine has one.
	if h.one, err = integration.StartRedis(integration.RedisOptions{Password: password,
		Args: []string{"--client-output-buffer-limit", "normal 256mb 0 0"}}); err != nil {
		return h, err
	}
	args := []string{"--requirepass", password, "--max-client-memory", strconv.Itoa(b.memory << 20)}
	if b.short {
		args = append(args, "--acquire-timeout", "10s", "--master-timeout", "10s")
	}
	for i := range 3 {
		m, err := integration.StartRedis(integration.RedisOptions{})
		if err != nil {
			return h, err
		}
		h.masters = append(h.masters, m)
		addr := m.Addr
		if a.liar && i == 2 {
			if h.liar, err = newLiar(m.Addr); err != nil {
				return h, err
			}
			addr = h.liar.addr()
		}
		args = append(args, "--master", addr)
	}
	if h.proxy, err = integration.StartProxy(integration.ProxyOptions{Path: b.program, Args: args}); err != nil {
		return h, err
	}
	return h, h.awaitVoting(3)
}

func (h *house) close() error {
	var err error
	if h.proxy != nil {
		code, endErr := h.proxy.Terminate(time.Minute)
		if err = endErr; err == nil && code != 0 {
			err = fmt.Errorf("the proxy ended with exit code %d\n%s", code, h.proxy.Log())
		}
	}
	if h.liar != nil {
		err = errors.Join(err, h.liar.close())
	}
	for _, r := range h.masters {
		err = errors.Join(err, r.Stop())
	}
	if h.one != nil {
		err = errors.Join(err, h.one.Stop())
	}
	return err
}

// survived tells what is not as it was: nothing, if all is well. What was asked for
// may have to be done first.
func (h *house) survived() error {
	if h.proxy.Ended() {
		return fmt.Errorf("the proxy has ended:\n%s", lastOf(h.proxy.Log()))
	}
	for _, m := range h.masters {
		if m.Ended() {
			return fmt.Errorf("a master has ended:\n%s", lastOf(m.Log()))
		}
	}
	if log := h.proxy.Log(); strings.Contains(log, "panic") {
		return fmt.Errorf("the proxy had a panic:\n%s", log)
	}
	voters := 3
	if h.liar != nil {
		voters = 2
	}
	if err := h.awaitVoting(voters); err != nil {
		return err
	}
	return serves(h.proxy.Addr)
}

// lastOf is the end of a long log.
func lastOf(log string) string { return log[max(0, len(log)-4096):] }

// awaitVoting waits until at least n masters vote.
func (h *house) awaitVoting(n int) error {
	return eventually(func() error {
		c, err := dial(h.proxy.Addr)
		if err != nil {
			return err
		}
		defer c.Close()
		reply, err := c.Do("INFO", "quorum")
		if err != nil {
			return err
		}
		if info, _ := reply.(string); strings.Count(info, "state=voting") < n {
			return fmt.Errorf("the proxy does not see %d masters vote:\n%v", n, reply)
		}
		return nil
	})
}

// serves tells whether locks can be had.
func serves(addr string) error {
	return eventually(func() error {
		s := newBystander(addr)
		defer s.leave()
		s.lockOnce()
		for text := range s.refused {
			return errors.New(text)
		}
		return nil
	})
}

// eventually tries for a minute.
func eventually(try func() error) error {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if err := try(); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// renew starts the one Redis anew where it does not answer any more.
func (h *house) renew() (wasNeeded bool, err error) {
	s := newBystander(h.one.Addr)
	s.lockOnce()
	s.leave()
	if len(s.refused) == 0 && !h.one.Ended() {
		return false, nil
	}
	if err := errors.Join(h.one.Signal(syscall.SIGKILL)); err != nil {
		return true, err
	}
	if _, err := h.one.Wait(time.Minute); err != nil {
		return true, err
	}
	return true, h.one.Restart()
}

// dial connects a client that knows the password.
func dial(addr string) (*integration.Client, error) {
	c, err := integration.Dial(addr)
	if err != nil {
		return nil, err
	}
	if err := c.Send("AUTH", password); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if reply, err := c.ReceiveWithin(patience); err != nil || reply != "OK" {
		return nil, errors.Join(fmt.Errorf("AUTH is answered %v, %w", reply, err), c.Close())
	}
	return c, nil
}
