package main

import (
	"fmt"
	"os/exec"
)

// bootstrap marks the masters as a set, for all proxies.
func (h *house) bootstrap() error {
	args := []string{"bootstrap", "--max-ttl", maxTTL.String()}
	for i, m := range h.masters {
		args = append(args, "--master", called(i, m.redis.Addr))
	}
	if out, err := exec.Command(h.program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("bootstrap: %w\n%s", err, out)
	}
	return nil
}
