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
	"redlock-proxy/quorum/members"
)

// changeMasters makes a new set of masters of an old one.
func changeMasters(cfg *conf.Config, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	live := &atomic.Pointer[conf.Config]{}
	live.Store(cfg)
	before := *cfg
	before.Masters = cfg.OldMasters
	old := &atomic.Pointer[conf.Config]{}
	old.Store(&before)
	was, set := engineConfig(&before, configuredMasters(old)), engineConfig(cfg, configuredMasters(live))
	err := members.Change(ctx, was.Equipped().Masters, set.Equipped(), members.Changing{
		EvenSo: cfg.EvenSo,
		Tell:   func(text string) { fmt.Fprintln(stdout, text) },
	})
	if err != nil {
		if errors.Is(err, members.ErrHalfChanged) {
			fmt.Fprintln(stderr, "redlock-proxy: the set of masters is changed in part, and there is no way back to the old one: give the same order again, until it succeeds:")
		} else {
			fmt.Fprintln(stderr, "redlock-proxy: the set of masters is not changed:")
		}
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(stderr, "  "+line)
		}
		fmt.Fprintln(stderr, "start no proxy of the new set before the same order has succeeded")
		return exitFailed
	}
	fmt.Fprintf(stdout, "%d masters are the new set; proxies with this configuration can serve\n", len(cfg.Masters))
	return exitOK
}
