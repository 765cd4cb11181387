package proxy

import (
	"net"
	"runtime"
	"sync/atomic"
	"testing"
)

// endlessListener has a connection whenever it is asked for one, so often.
type endlessListener struct {
	left   int
	before atomic.Int64 // what others have done when the last one comes
	done   *atomic.Int64
}

func (l *endlessListener) Accept() (net.Conn, error) {
	if l.left--; l.left < 0 {
		l.before.Store(l.done.Load())
		return nil, net.ErrClosed
	}
	ours, theirs := net.Pipe()
	ours.Close()
	return theirs, nil
}

func (l *endlessListener) Close() error   { return nil }
func (l *endlessListener) Addr() net.Addr { return &net.UnixAddr{Name: "endless", Net: "unix"} }

// TestWhoConnectsWithoutPauseHasOthersServedInBetween: with one processor, somebody else has
// a turn for each connection.
func TestWhoConnectsWithoutPauseHasOthersServedInBetween(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const connections = 200
	r := newRig(t, Config{})
	var turns atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				turns.Add(1)
				runtime.Gosched()
			}
		}
	}()
	l := &endlessListener{left: connections, done: &turns}
	if err := r.server.Serve(l); err == nil {
		t.Error("the listener ended, and Serve did not tell")
	}
	close(stop)
	<-stopped
	if got := l.before.Load(); got < connections/2 {
		t.Errorf("others had %d turns while %d connections came", got, connections)
	}
}
