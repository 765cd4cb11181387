package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// keep writes down all that is known of a round that went wrong, and returns
// the directory: the history as a page and as data, the faults, what the
// proxies said.
func (h *house) keep(parent string, j *judged) (dir string, err error) {
	dir, err = os.MkdirTemp(parent, fmt.Sprintf("nemesis-seed-%d-", j.seed))
	if err != nil {
		return "", err
	}
	data, err := json.MarshalIndent(struct {
		Complaints []string
		Faults     any
		History    history
	}{j.complaints(), j.marks, j.history}, "", " ")
	if err != nil {
		return "", err
	}
	return dir, errors.Join(
		j.verdict.Visualize(filepath.Join(dir, "history.html"), j.marks),
		os.WriteFile(filepath.Join(dir, "history.json"), data, 0o600),
		os.WriteFile(filepath.Join(dir, "proxies.log"), []byte(h.logs()), 0o600),
	)
}

// again is the command that repeats a round.
func (o options) again(p plan, masters int) string {
	more := ""
	if o.race {
		more += " -race"
	}
	if o.kind == durable {
		more += " -durable"
	}
	if s := o.servers.String(); s != "" {
		more += " -servers " + s
	}
	return fmt.Sprintf("go run -C integration/nemesis . -masters %d -proxies %d -work %s -faults %s -hands %d -seed %d -round %v -for %v%s",
		masters, o.proxies, workNames(p.works), names(p.faults), p.hands, p.seed, p.during, p.during, more)
}
