package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"redlock-proxy/conf"
	"redlock-proxy/quorum"
)

// bootstrap marks a new set of masters.
func bootstrap(cfg *conf.Config, stdout, stderr io.Writer) int {
	if len(cfg.Masters) == 0 {
		fmt.Fprintln(stderr, "redlock-proxy: no master is named; embedded ones need no bootstrap")
		return exitConfig
	}
	live := &atomic.Pointer[conf.Config]{}
	live.Store(cfg)
	if err := quorum.Bootstrap(context.Background(), engineConfig(cfg, configuredMasters(live))); err != nil {
		fmt.Fprintln(stderr, "redlock-proxy: the masters are not marked:")
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(stderr, "  "+line)
		}
		return exitFailed
	}
	if len(cfg.Masters) == 1 {
		fmt.Fprintln(stdout, "one master alone needs no marker")
		return exitOK
	}
	fmt.Fprintf(stdout, "%d masters are marked; proxies with this configuration can serve\n", len(cfg.Masters))
	return exitOK
}
