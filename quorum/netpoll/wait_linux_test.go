package netpoll

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Who waits does so no longer for signals that come in the meantime, nor ends with them.
func TestSignalsDoNotKeepWhoWaits(t *testing.T) {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(epoll)
	thread, ended := make(chan int), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		thread <- syscall.Gettid()
		if n, err := Wait(epoll, make([]syscall.EpollEvent, 1), 50); n != 0 || err != nil {
			t.Errorf("%d events, %v", n, err)
		}
	}()
	id := <-thread
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		select {
		case <-ended:
			return
		default:
		}
		if time.Since(began) > 10*time.Second {
			t.Fatal("he waits on")
		}
		syscall.Tgkill(syscall.Getpid(), id, syscall.SIGURG) // which the runtime itself uses
	}
}
