package integration

import "syscall"

// endWithParent makes the kernel end a child whose parent dies before it could:
// a test that runs into its time-out leaves no servers behind.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
