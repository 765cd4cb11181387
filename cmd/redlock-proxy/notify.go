package main

import (
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// notifier tells systemd how the process fares, by the protocol of
// sd_notify(3). Nil, it tells nobody.
type notifier struct{ conn *net.UnixConn }

// newNotifier connects to the socket that NOTIFY_SOCKET names: a path, or with
// @ in front a name in Linux's abstract name space. Without it there is nobody
// to tell.
func newNotifier(socket string) (*notifier, error) {
	if socket == "" {
		return nil, nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Net: "unixgram", Name: socket})
	if err != nil {
		return nil, err
	}
	return &notifier{conn}, nil
}

// notifyTimeout is for how long a supervisor that does not read is waited for: whoever tells him
// something has signals to look after.
const notifyTimeout = time.Second

// send is one message, of one or several assignments.
func (n *notifier) send(states ...string) error {
	if n == nil {
		return nil
	}
	n.conn.SetWriteDeadline(time.Now().Add(notifyTimeout))
	_, err := n.conn.Write([]byte(strings.Join(states, "\n")))
	return err
}

func (n *notifier) ready() error { return n.send("READY=1") }

// reloading says since when. READY follows it, whatever comes of the reload.
func (n *notifier) reloading() error {
	return n.send("RELOADING=1", "MONOTONIC_USEC="+strconv.FormatInt(monotonic().Microseconds(), 10))
}

// stopping says that the process is about to end, for how long that may take, and how it stands.
func (n *notifier) stopping(within time.Duration, standing string) error {
	return n.send("STOPPING=1", "EXTEND_TIMEOUT_USEC="+strconv.FormatInt(within.Microseconds(), 10), "STATUS="+standing)
}

// status is the line that systemctl status shows.
func (n *notifier) status(standing string) error { return n.send("STATUS=" + standing) }

func (n *notifier) watchdog() error { return n.send("WATCHDOG=1") }

func (n *notifier) close() {
	if n != nil {
		n.conn.Close()
	}
}

// watchdogInterval is half of what systemd waits for a sign of life, or 0 if
// it does not wait for one from this process.
func watchdogInterval(getenv func(string) string) time.Duration {
	if pid := getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	usec, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || usec <= 0 || usec > int64(time.Hour/time.Microsecond)*24 {
		return 0
	}
	return time.Duration(usec) * time.Microsecond / 2
}
