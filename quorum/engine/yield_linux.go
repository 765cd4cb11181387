package engine

import (
	"runtime"
	"syscall"
)

// yield lets whoever can run go first, other threads and processes included: clients
// and masters on the same machine. It costs next to nothing where nobody can. It is as
// if the kernel had taken the processor away, so the runtime is not told.
func yield() {
	runtime.Gosched()
	syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
	runtime.Gosched()
}
