package main

import (
	"io"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/conf"
)

// newLogger makes the logger of a configuration. It writes through a queue, which the
// caller closes.
func newLogger(cfg *conf.Config, w io.Writer) (hclog.Logger, *logQueue) {
	to := func(w io.Writer) hclog.Logger {
		return hclog.New(&hclog.LoggerOptions{
			Name:       "redlock-proxy",
			Level:      hclog.LevelFromString(cfg.LogLevel),
			Output:     w,
			JSONFormat: cfg.LogFormat == "json",
		})
	}
	queue := newLogQueue(w, func(w io.Writer) hclog.Logger {
		gap := to(w)
		gap.SetLevel(hclog.Warn) // also where log-level is error: what is lost was to be read
		return gap
	})
	return to(queue), queue
}
