package proxy

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
)

// monitors are the clients that are told of every command. While there are none, a command costs
// one look at that.
type monitors struct {
	mu  sync.Mutex // held by who changes all
	all atomic.Pointer[[]*conn]
}

// watch adds a connection. The reply goes to the client in the same step, before any command; it is
// false if that could not be.
func (m *monitors) watch(c *conn, reply []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(reply) > 0 && !c.append(reply) {
		return false
	}
	var list []*conn
	if all := m.all.Load(); all != nil {
		list = slices.Clone(*all)
	}
	list = append(list, c)
	m.all.Store(&list)
	return true
}

// unwatch takes a connection out, if it is there.
func (m *monitors) unwatch(c *conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.all.Load()
	if all == nil {
		return
	}
	list := slices.DeleteFunc(slices.Clone(*all), func(other *conn) bool { return other == c })
	if len(list) == 0 {
		m.all.Store(nil)
		return
	}
	m.all.Store(&list)
}

// tellMonitors tells them of a command. Who does not read is cut off, as any client is that does
// not read messages, and nobody waits for it.
func (c *conn) tellMonitors(a *commands.Action, now time.Time) {
	all := c.srv.monitors.all.Load()
	if all == nil || !a.Monitored() {
		return
	}
	line := monitorLine(now, c.session.Snapshot().DB, c.addr, c.shownOf(c.raw))
	for _, to := range *all {
		if to.deliver(line) {
			to.flushDelivered()
		}
	}
}

// monitorLine is a command as MONITOR shows it, a status in the protocol.
func monitorLine(now time.Time, db int, addr string, args []string) []byte {
	if strings.HasPrefix(addr, "/") {
		addr = "unix:" + addr
	}
	micros := strconv.Itoa(1_000_000 + now.Nanosecond()/1000)[1:]
	line := []byte("+" + strconv.FormatInt(now.Unix(), 10) + "." + micros + " [" + strconv.Itoa(db) + " " + addr + "]")
	for _, arg := range args {
		line = appendQuoted(append(line, ' '), arg)
	}
	return append(line, "\r\n"...)
}

// appendQuoted appends a word in quotes, with Redis's escapes for what cannot be printed.
func appendQuoted(to []byte, word string) []byte {
	const hex = "0123456789abcdef"
	to = append(to, '"')
	for i := range len(word) {
		switch b := word[i]; b {
		case '\\', '"':
			to = append(to, '\\', b)
		case '\n':
			to = append(to, '\\', 'n')
		case '\r':
			to = append(to, '\\', 'r')
		case '\t':
			to = append(to, '\\', 't')
		case '\a':
			to = append(to, '\\', 'a')
		case '\b':
			to = append(to, '\\', 'b')
		default:
			if b < ' ' || b > '~' {
				to = append(to, '\\', 'x', hex[b>>4], hex[b&15])
			} else {
				to = append(to, b)
			}
		}
	}
	return append(to, '"')
}

// monitor carries out MONITOR.
func (c *conn) monitor(a *commands.Action) {
	var reply []byte
	if !a.Muted {
		reply = []byte("+OK\r\n")
	}
	if !c.srv.monitors.watch(c, reply) {
		a.Close = true
	}
}
