package main

import (
	"os"
	"runtime/debug"

	"redlock-proxy/conf"
	"redlock-proxy/proxy"
)

// clientMemory is how many bytes clients may take.
func clientMemory(cfg *conf.Config) int {
	if cfg.MaxClientMemory > 0 {
		return cfg.MaxClientMemory
	}
	return proxy.DefaultMaxClientMemory
}

// ownMemory is what the process takes for itself.
const ownMemory = 16 << 20

// limitMemory has the collector run more often where clients take all that they may:
// otherwise as much again would be waiting for it. An operator's own limit stands.
func limitMemory(cfg *conf.Config) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(clientMemory(cfg))/8*9 + ownMemory)
	}
}
