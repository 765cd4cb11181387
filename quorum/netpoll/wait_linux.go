package netpoll

import (
	"os"
	"syscall"
)

// Wait waits on an epoll until there are events, so many milliseconds at most, of which each signal takes one: floods of them do
// not keep who waits. The runtime knows that he waits.
func Wait(epoll int, events []syscall.EpollEvent, milliseconds int) (n int, err error) {
	for {
		n, err = syscall.EpollWait(epoll, events, milliseconds)
		if err != syscall.EINTR {
			return max(n, 0), os.NewSyscallError("epoll_wait", err)
		}
		milliseconds = max(milliseconds-1, 0)
	}
}
