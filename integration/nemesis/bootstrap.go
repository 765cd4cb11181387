package main

import (
	"fmt"
	"os/exec"
	"strings"
)

// bootstrap writes the masters' first markers.
func (h *house) bootstrap() error {
	help, err := exec.Command(h.program, "--help").CombinedOutput()
	if err != nil {
		return fmt.Errorf("redlock-proxy --help: %w\n%s", err, help)
	}
	if !strings.Contains(string(help), "\n  bootstrap") {
		return nil
	}
	args := []string{"bootstrap", "--max-ttl", maxTTL.String(), "--master-user", user(0), "--master-password", user(0)}
	for _, m := range h.masters {
		args = append(args, "--master", m.front.addr)
	}
	if out, err := exec.Command(h.program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("bootstrap: %w\n%s", err, out)
	}
	return nil
}
