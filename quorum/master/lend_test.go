package master

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// lent is a link over a socket, and the master's end of it.
func lent(t *testing.T, patience time.Duration) (*Link, *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ours, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	l := &Link{framed: newFramedConn(plain(ours), nil), boot: clock.BootTime, ctx: context.Background(), end: func() {}, patience: patience}
	l.wire = newWire(l.framed, patience)
	if !l.Lends() {
		t.Skip("no connection can be lent here")
	}
	return l, theirs.(*net.TCPConn)
}

func set(value string) []rueidis.Completed {
	return []rueidis.Completed{rueidis.Builder{}.Arbitrary("SET", "k", value).Build()}
}

const answered = "+OK\r\n$-1\r\n*2\r\n$1\r\n7\r\n$1\r\n8\r\n"

// rests awaits what comes in a goroutine of its own, and is back when nothing of that is missed.
func rests(l *Link) (over chan error) {
	over, begun := make(chan error, 1), make(chan struct{})
	go func() { over <- l.Await(func() bool { close(begun); return true }) }()
	<-begun
	return over
}

// What somebody else has sent is received by who waits for it.
func TestLinkIsLentToWhoSends(t *testing.T) {
	l, theirs := lent(t, time.Minute)
	for _, value := range []string{"a", strings.Repeat("b", 100), "c"} {
		over := rests(l)
		l.Lend(set(value))
		want := array(bulk("SET"), bulk("k"), bulk(value)) + array(bulk("GETRANGE"), bulk(quorum.MarkerKey), bulk("0"), bulk(marker.LastOfNonce)) + array(bulk("TIME"))
		asked := make([]byte, len(want))
		if _, err := io.ReadFull(theirs, asked); err != nil || string(asked) != want {
			t.Fatalf("the master was asked %q, %v; want %q", asked, err, want)
		}
		select {
		case err := <-over:
			t.Fatalf("it is over before the master has answered: %v", err)
		default:
		}
		theirs.Write([]byte(answered[:7]))
		if err := <-over; err != nil {
			t.Fatal(err)
		}
		theirs.Write([]byte(answered[7:]))
		answers, p, err := l.Receive(1, 5, nil)
		if err != nil || len(answers) != 1 || answers[0].Str != "OK" || p.Clock.At != 7*time.Second+8*time.Microsecond || p.Clock.Sent != 5 {
			t.Fatalf("%v, %+v, %v", answers, p, err)
		}
	}
}

// A master that does not read holds up who receives, and not who sends.
func TestWhoSendsOnALentLinkNeverWaits(t *testing.T) {
	l, theirs := lent(t, time.Minute)
	value := strings.Repeat("x", 32<<20)
	over := rests(l)
	l.Lend(set(value))
	if err := <-over; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("it is over for %v", err)
	}
	go func() {
		io.CopyN(io.Discard, theirs, int64(len(value)))
		theirs.Write([]byte(answered))
	}()
	if answers, _, err := l.Receive(1, 0, nil); err != nil || len(answers) != 1 {
		t.Fatalf("%v, %v", answers, err)
	}
}

func TestEveryEndOfALinksRest(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(l *Link, theirs *net.TCPConn)
		want func(l *Link, err error) error // nil if it is as it should be
	}{
		"it is roused": {func(l *Link, _ *net.TCPConn) { l.Rouse() }, func(_ *Link, err error) error {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return nil
			}
			return err
		}},
		"the master closes it": {func(_ *Link, theirs *net.TCPConn) { theirs.Close() }, func(l *Link, err error) error {
			if err == nil && l.Unasked() == io.EOF {
				return nil
			}
			return errors.Join(err, errors.New("not the end"))
		}},
		"the master says what nobody has asked for": {func(_ *Link, theirs *net.TCPConn) { theirs.Write([]byte("+OK\r\n")) }, func(l *Link, err error) error {
			if err == nil && l.Unasked() == errSurplus {
				return nil
			}
			return errors.Join(err, errors.New("not as it should be"))
		}},
		"it is interrupted": {func(l *Link, _ *net.TCPConn) { l.Interrupt() }, func(_ *Link, err error) error {
			if err != nil {
				return nil
			}
			return errors.New("no error")
		}},
		"the master is gone when somebody sends": {func(l *Link, theirs *net.TCPConn) {
			theirs.SetLinger(0)
			theirs.Close()
			time.Sleep(10 * time.Millisecond)
			l.Lend(set("a"))
		}, func(l *Link, _ error) error {
			if _, _, err := l.Receive(1, 0, nil); err != nil {
				return nil
			}
			return errors.New("it is answered")
		}},
		"no answer comes in time": {func(l *Link, _ *net.TCPConn) { l.Lend(set("a")) }, func(l *Link, err error) error {
			if _, _, err := l.Receive(1, 0, nil); errors.Is(err, os.ErrDeadlineExceeded) {
				return nil
			}
			return errors.Join(err, errors.New("not for the time"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l, theirs := lent(t, 50*time.Millisecond)
			over := rests(l)
			test.do(l, theirs)
			if err := test.want(l, <-over); err != nil {
				t.Error(err)
			}
		})
	}
}

// Whose time was up rests again, and is not told so twice.
func TestLinkRestsAgain(t *testing.T) {
	l, theirs := lent(t, time.Minute)
	l.Rouse()
	if err := l.Await(func() bool { return true }); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("one that is roused already rests: %v", err)
	}
	l.Forgive()
	if err := l.Await(func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	over := rests(l)
	theirs.Write([]byte("x"))
	if err := <-over; err != nil {
		t.Fatal(err)
	}
}
