//go:build !linux

package integration

import "syscall"

func endWithParent() *syscall.SysProcAttr { return nil }
