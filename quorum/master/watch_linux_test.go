package master

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Who waits does so no longer for signals that come in the meantime.
func TestSignalsDoNotKeepWhoWatches(t *testing.T) {
	reads, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Close()
	defer writes.Close()
	w, err := NewWatch(int(reads.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	thread, ended := make(chan int), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		thread <- syscall.Gettid()
		if came, called := w.Wait(50); len(came) != 0 || called {
			t.Errorf("%v, %v have come", came, called)
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
