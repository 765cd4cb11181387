package main

import (
	"fmt"
	"os/exec"
)

// bootstrap marks the masters as a set, for all proxies.
func (h *house) bootstrap() error {
	// A master that is slow to answer can be reached.
	args := []string{"bootstrap", "--no-locks-held", "--max-ttl", maxTTL.String(), "--connect-timeout", "10s", "--master-timeout", "10s"}
	for i, m := range h.masters {
		args = append(args, "--master", called(i, m.redis.Addr))
	}
	if out, err := exec.Command(h.program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("bootstrap: %w\n%s", err, out)
	}
	return nil
}
