package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"redlock-proxy/commands"
	"redlock-proxy/conf"
	"redlock-proxy/proxy/admin"
	"redlock-proxy/quorum/doctor"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/members"
)

// exitBreaks is what doctor ends with where locks are at stake. A warning is exitFailed.
const exitBreaks = 2

// examine is the subcommand doctor: it looks at the masters and at this machine, and says what is
// wrong.
func examine(cfg *conf.Config, stdout, stderr io.Writer) int {
	if len(cfg.Masters) == 0 {
		fmt.Fprintln(stderr, "redlock-proxy: no master is named; embedded ones need no doctor")
		return exitConfig
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	live := &atomic.Pointer[conf.Config]{}
	live.Store(cfg)
	set := engineConfig(cfg, configuredMasters(live)).Set
	found := doctor.Judge(factsOf(cfg, &set, members.Examine(ctx, &set)))
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "redlock-proxy: ended before all masters had been asked")
		return exitFailed
	}
	code := exitOK
	switch doctor.Worst(found) {
	case doctor.Breaks:
		code = exitBreaks
	case doctor.Warning:
		code = exitFailed
	}
	var text strings.Builder
	if cfg.JSON {
		printJSON(&text, diagnosis{len(cfg.Masters), found})
	} else {
		tellFindings(&text, len(cfg.Masters), found)
	}
	return tell(stdout, stderr, text.String(), code)
}

func factsOf(cfg *conf.Config, set *master.Set, masters []doctor.Master) *doctor.Facts {
	facts := &doctor.Facts{
		Terms:         set.Terms(),
		MasterTimeout: cfg.MasterTimeout,
		ProbeInterval: cfg.ProbeInterval,
		Waits:         cfg.AcquireWait > 0,
		Flushes:       commands.SomebodyOperates(string(cfg.Users)),
		Masters:       masters,
		Machine:       doctor.Machine{MaxClients: cfg.MaxClients, Backlog: backlog()},
	}
	if limit, err := openFilesLimit(); err == nil {
		needed := cfg.MaxClients + reservedFor(len(masters))
		if cfg.Admin.Network != "" {
			needed += admin.MaxConnections
		}
		facts.Machine.FilesNeeded, facts.Machine.FilesAllowed = uint64(needed), limit
	}
	return facts
}

// backlog is how many connections wait at most until they are accepted, 0 if the kernel does not say.
func backlog() int {
	b, err := os.ReadFile("/proc/sys/net/core/somaxconn")
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}

// diagnosis is what doctor prints for machines.
type diagnosis struct {
	Masters  int              `json:"masters"` // that were to be looked at
	Findings []doctor.Finding `json:"findings"`
}

// printJSON prints one line. Nothing of what is printed can fail to be.
func printJSON(w io.Writer, v any) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.Encode(v)
}

// tellFindings prints a block for each, and a line about all.
func tellFindings(w io.Writer, masters int, found []doctor.Finding) {
	breaks := 0
	for i := range found {
		f := &found[i]
		if f.Severity == doctor.Breaks {
			breaks++
		}
		what := f.What
		if where := f.Where(); where != "" {
			what = where + ": " + what
		}
		fmt.Fprintf(w, "%-8s %s  [%s]\n         so:   %s\n         cure: %s\n\n", f.Severity, printable(what), f.Name, f.Means, f.Cure)
	}
	if len(found) == 0 {
		fmt.Fprintf(w, "nothing is wrong with %d masters and this machine\n", masters)
		return
	}
	fmt.Fprintf(w, "of %d masters and this machine: breaks %d, warnings %d\n", masters, breaks, len(found)-breaks)
}
