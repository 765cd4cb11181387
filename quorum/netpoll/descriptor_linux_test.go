package netpoll

import (
	"syscall"
	"testing"
	"time"
)

// becomeKnown has Go's poller know of a connection.
func becomeKnown(t *testing.T, c *Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(time.Millisecond))
	c.Read(make([]byte, 1))
	c.SetReadDeadline(time.Time{})
	expectKnown(t, c, true)
}

// The number of what is closed may be somebody else's by then.
func TestWhatIsClosedIsLeftAlone(t *testing.T) {
	c, _ := pair(t)
	other, theirs := pair(t)
	becomeKnown(t, c)
	n := c.FD()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Dup3(other.FD(), n, 0); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(n)
	c.Forget()
	if c.fd != n {
		t.Errorf("it is %d by now, as somebody else's", c.fd)
		syscall.Close(c.fd)
	}
	theirs.Write([]byte("x"))
	if got, err := ReadNow(n, make([]byte, 1)); got != 1 {
		t.Errorf("somebody else reads %d bytes, %v", got, err)
	}
}

// A poller goes on to know what there is no other number for.
func TestForgetWhereDescriptorsRunOut(t *testing.T) {
	c, other := pair(t)
	becomeKnown(t, c)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	c.Forget()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	expectKnown(t, c, true)
	other.Write([]byte("x"))
	expectRead(t, c, "x")
}
