package clock

import (
	"syscall"
	"time"
	"unsafe"
)

// BootTime is CLOCK_BOOTTIME, which goes on while the machine sleeps: the
// masters' clocks do so too, and a proxy that was suspended must not take that
// for a jump of theirs.
func BootTime() time.Duration {
	const clockBoottime = 7
	var ts syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		return sinceStart() // a kernel before 2.6.39
	}
	return time.Duration(ts.Nano())
}
