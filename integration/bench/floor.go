package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"redlock-proxy/integration"
)

func floorTrials() (list []trial) {
	for _, l := range loads() {
		list = append(list, trial{"floor/" + l.name, func(b *bench, r *report) error {
			return b.besideTrial(r, l, rival{"floor", "a proxy without duties", goal{}, b.startFloor})
		}})
	}
	return list
}

// startFloor starts the proxy without duties before the masters.
func (b *bench) startFloor(h *house) (*integration.Proxy, error) {
	path := filepath.Join(b.dir, "floor")
	if out, err := exec.Command("go", "build", "-o", path, "redlock-proxy/integration/bench/floor").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build floor: %w\n%s", err, out)
	}
	port, err := integration.FreePort()
	if err != nil {
		return nil, err
	}
	addr := "127.0.0.1:" + strconv.Itoa(port)
	args := []string{addr}
	for _, m := range h.masters {
		args = append(args, m.Addr)
	}
	p, err := integration.StartProxy(integration.ProxyOptions{Path: path, Args: args, Addr: addr, Bare: true})
	if err != nil {
		return nil, err
	}
	for range 1000 {
		if _, err = ask(addr, "PING"); err == nil {
			return p, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, errors.Join(fmt.Errorf("floor does not answer: %w\n%s", err, p.Log()), p.Kill())
}
