//go:build unix && (!linux || race)

package netpoll

import "syscall"

// ReadNow and WriteNow are package syscall's, of which the race detector knows that who reads has waited for who wrote.

func ReadNow(fd int, p []byte) (n int, err error)  { return again(syscall.Read, fd, p) }
func WriteNow(fd int, p []byte) (n int, err error) { return again(syscall.Write, fd, p) }

// again is a system call, once more where a signal has cut it short.
func again(call func(int, []byte) (int, error), fd int, p []byte) (int, error) {
	for {
		n, err := call(fd, p)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
