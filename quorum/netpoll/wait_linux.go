package netpoll

import (
	"runtime"
	"syscall"
	"unsafe"
)

// brief is for how many milliseconds a goroutine may keep a processor, and with it the collector, where it stops all.
const brief = 2

// WaitBriefly waits until something has come to an epoll, for so many milliseconds at most, by who has nothing else to do
// and expects it soon. The runtime does not know that the thread sleeps, if that is brief, and so neither gives its processor to another
// nor has to wake anybody to get it back. Where there is but one processor it is told.
func WaitBriefly(epoll int, events []syscall.EpollEvent, milliseconds int) (n int, err error) {
	if milliseconds > brief || runtime.GOMAXPROCS(0) == 1 {
		for err = syscall.EINTR; err == syscall.EINTR; {
			n, err = syscall.EpollWait(epoll, events, milliseconds)
		}
		return max(n, 0), err
	}
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(milliseconds), 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
