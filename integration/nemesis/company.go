package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

// company is one process of clients, which is this program itself.
type company struct {
	busy  sync.Mutex // held by the fault that it suffers from
	cmd   *exec.Cmd
	input io.WriteCloser // its end says that all is well
	said  bytes.Buffer
	out   string        // the file of its history
	end   lease.Instant // when no further turn begins
}

// invite starts all companies of a round.
func (h *house) invite(p plan, dir string, end lease.Instant) error {
	h.clients = nil
	for _, w := range p.works {
		for range w.processes {
			c, err := h.company(p, w, dir, len(h.clients), end)
			if err != nil {
				return errors.Join(err, h.dismiss())
			}
			h.clients = append(h.clients, c)
		}
	}
	return nil
}

// company starts the i-th of a round.
func (h *house) company(p plan, w work, dir string, i int, end lease.Instant) (*company, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	addrs, offset := h.addrs(w)
	c := &company{out: filepath.Join(dir, fmt.Sprintf("history%d.json", i)), end: end}
	c.cmd = exec.Command(self, clientCommand,
		"-work", w.name, "-proxies", strings.Join(addrs, ","), "-offset", fmt.Sprint(offset), "-name", filepath.Base(dir),
		"-first", fmt.Sprint(i*processSpan), "-ttl", longestTTL.String(),
		"-seed", fmt.Sprint(p.seed), "-end", fmt.Sprint(int64(end)), "-dir", dir, "-out", c.out)
	c.cmd.Stdout, c.cmd.Stderr = &c.said, &c.said
	// Frozen clients would outlive this process otherwise.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if c.input, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("clients %d: %w", i, err)
	}
	return c, nil
}

func (c *company) signal(s syscall.Signal) error { return c.cmd.Process.Signal(s) }

// leave tells the clients that all is well, waits for what they do last, and gives what
// they have seen. Those that do not come to an end are ended.
func (c *company) leave() (history, error) {
	overdue := time.AfterFunc(max(0, until(c.end))+time.Minute, func() {
		// It fails only if they have ended after all.
		_ = c.cmd.Process.Kill()
	})
	defer overdue.Stop()
	if err := errors.Join(c.input.Close(), c.cmd.Wait()); err != nil {
		return history{}, fmt.Errorf("clients: %w\n%s", err, c.said.String())
	}
	return readHistory(c.out)
}

// dismiss ends the companies that are there before their time.
func (h *house) dismiss() error {
	var err error
	for _, c := range h.clients {
		err = errors.Join(err, c.cmd.Process.Kill())
		_ = c.cmd.Wait() // it says that they were killed
	}
	return err
}
