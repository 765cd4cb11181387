package engine

import (
	"runtime"
	"syscall"
)

// yield lets whoever can run go first, other threads and processes included: clients
// and masters on the same machine. It costs next to nothing where nobody can. It is as
// if the kernel had taken the processor away, so the runtime is not told.
//
// What it is worth beside runtime.Gosched alone, SET NX PX on two busy cores, 40 turns side by side:
// .81 of the proxy's processor time for a command with 50 clients, .88 with 500, and of the
// masters' .88 and .82, at 1.1 and .9 of the rate. With 500, half wait 1.2 times as long and p99
// is 1.4 of what it was: who else wants the machine goes first.
func yield() {
	runtime.Gosched()
	syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
	runtime.Gosched()
}
