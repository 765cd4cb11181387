//go:build !linux

package engine

import "runtime"

// yield lets whoever can run go first.
func yield() { runtime.Gosched() }
