package main

import (
	"io"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/conf"
)

func newLogger(cfg *conf.Config, w io.Writer) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name:       "redlock-proxy",
		Level:      hclog.LevelFromString(cfg.LogLevel),
		Output:     w,
		JSONFormat: cfg.LogFormat == "json",
	})
}
