package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"redlock-proxy/conf"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/members"
)

// bootstrap marks a set of masters, or completes what stands of it.
func bootstrap(cfg *conf.Config, stdout, stderr io.Writer) int {
	if len(cfg.Masters) == 0 {
		fmt.Fprintln(stderr, "redlock-proxy: no master is named; embedded ones need no bootstrap")
		return exitConfig
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	live := &atomic.Pointer[conf.Config]{}
	live.Store(cfg)
	set := engineConfig(cfg, configuredMasters(live))
	err := members.Bootstrap(ctx, set.Equipped(), members.Bootstrapping{
		NoLocksHeld: cfg.NoLocksHeld,
		Wait:        cfg.Wait,
		Tell:        func(text string) { fmt.Fprintln(stdout, text) },
	})
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(stderr, "redlock-proxy: bootstrap has not finished:")
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintln(stderr, "  "+line)
	}
	if errors.Is(err, quorum.ErrOtherTerms) {
		return exitConfig
	}
	return exitFailed
}
