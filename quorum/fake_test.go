package quorum

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fakeMaster behaves like one Redis as far as the engine can see: keys with
// expiry, NX, our scripts' effects, connections that can be killed, and a
// socket whose contents are carried out late after a freeze. It is spoken to
// over net.Pipe, so that it runs in virtual time.
type fakeMaster struct {
	name string

	mu      sync.Mutex // guards what follows
	runID   string
	restart int
	keys    map[string]fakeKey
	scripts map[string]*script
	conns   map[int64]net.Conn
	lastID  int64
	refuse  bool                               // dials fail
	delay   time.Duration                      // before each batch of replies
	thaw    chan struct{}                      // while frozen; closed by unfreeze
	respond func(args []string) string         // a reply of its own instead, if not ""
	after   func(args []string, m *fakeMaster) // called once a command was carried out
	log     []string                           // commands carried out, but for housekeeping
	kills   int
	version string
}

type fakeKey struct {
	value string
	until time.Time // zero: no expiry
	hash  bool
}

func newFakeMaster(name string) *fakeMaster {
	return &fakeMaster{
		name:    name,
		runID:   name + "-0",
		keys:    make(map[string]fakeKey),
		scripts: make(map[string]*script),
		conns:   make(map[int64]net.Conn),
		version: "7.0.15",
	}
}

func (m *fakeMaster) master() Master {
	return Master{Name: m.name, Network: "fake", Address: m.name, Dial: m.dial}
}

func (m *fakeMaster) dial(ctx context.Context, network, address string) (net.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuse {
		return nil, fmt.Errorf("connection refused")
	}
	ours, theirs := newSocket()
	m.lastID++
	id := m.lastID
	m.conns[id] = theirs
	go m.serve(theirs, id)
	return ours, nil
}

// newSocket is a net.Pipe whose writes do not wait for the reader, as those to
// a kernel's socket do not.
func newSocket() (net.Conn, net.Conn) {
	a, b := net.Pipe()
	return &buffered{Conn: a, wake: make(chan struct{}, 1)}, &buffered{Conn: b, wake: make(chan struct{}, 1)}
}

type buffered struct {
	net.Conn
	mu      sync.Mutex
	out     []byte
	started bool
	closed  bool
	wake    chan struct{}
}

func (b *buffered) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, net.ErrClosed
	}
	b.out = append(b.out, p...)
	if !b.started {
		b.started = true
		go b.pump()
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (b *buffered) pump() {
	for range b.wake {
		b.mu.Lock()
		out := b.out
		b.out = nil
		b.mu.Unlock()
		for len(out) > 0 {
			n, err := b.Conn.Write(out)
			if err != nil && n == 0 {
				return
			}
			out = out[n:]
		}
	}
}

func (b *buffered) SetWriteDeadline(time.Time) error { return nil }
func (b *buffered) SetDeadline(t time.Time) error    { return b.Conn.SetReadDeadline(t) }

func (b *buffered) Close() error {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.wake)
	}
	b.mu.Unlock()
	return b.Conn.Close()
}

func (m *fakeMaster) serve(conn net.Conn, id int64) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		args, err := readCall(r)
		if err != nil {
			return
		}
		m.mu.Lock()
		for m.thaw != nil {
			thaw := m.thaw
			m.mu.Unlock()
			<-thaw
			m.mu.Lock()
		}
		delay := m.delay
		m.mu.Unlock()
		if delay > 0 && strings.ToUpper(args[0]) == "TIME" {
			time.Sleep(delay)
		}
		m.mu.Lock()
		if m.conns[id] == nil { // ended meanwhile
			m.mu.Unlock()
			return
		}
		reply := ""
		if m.respond != nil {
			reply = m.respond(args)
		}
		if reply == "" {
			reply = m.do(args, id)
			if m.after != nil {
				m.after(args, m)
			}
		}
		m.mu.Unlock()
		if _, err := io.WriteString(conn, reply); err != nil {
			return
		}
	}
}

func readCall(r *bufio.Reader) ([]string, error) {
	line := func() (int, error) {
		s, err := r.ReadString('\n')
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(s[1:]))
	}
	n, err := line()
	if err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		size, err := line()
		if err != nil {
			return nil, err
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		args[i] = string(b[:size])
	}
	return args, nil
}

func (m *fakeMaster) key(name string) (fakeKey, bool) {
	k, ok := m.keys[name]
	if ok && !k.until.IsZero() && !k.until.After(time.Now()) {
		delete(m.keys, name)
		return fakeKey{}, false
	}
	return k, ok
}

func (k fakeKey) pttl() int64 {
	if k.until.IsZero() {
		return -1
	}
	return time.Until(k.until).Milliseconds()
}

const fakeNil = "$-1\r\n"

func bulk(s string) string   { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }
func integer(n int64) string { return fmt.Sprintf(":%d\r\n", n) }
func wrongType() string {
	return "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"
}
func array(s ...string) string { return fmt.Sprintf("*%d\r\n%s", len(s), strings.Join(s, "")) }

func (m *fakeMaster) do(args []string, id int64) string {
	switch strings.ToUpper(args[0]) {
	case "HELLO":
		return array(bulk("server"), bulk("redis"))
	case "CLIENT":
		if args[1] == "ID" {
			return integer(id)
		}
		victim, _ := strconv.ParseInt(args[3], 10, 64)
		conn := m.conns[victim]
		if conn == nil {
			return integer(0)
		}
		delete(m.conns, victim)
		conn.Close()
		m.kills++
		return integer(1)
	case "INFO":
		return bulk("run_id:" + m.runID + "\r\nredis_version:" + m.version + "\r\nrole:master\r\nloading:0\r\n")
	case "TIME":
		now := time.Now()
		return array(bulk(fmt.Sprint(now.Unix())), bulk(fmt.Sprint(now.Nanosecond()/1000)))
	case "SCRIPT":
		if args[1] == "FLUSH" {
			clear(m.scripts)
			return "+OK\r\n"
		}
		sum := sha1.Sum([]byte(args[2]))
		sha := hex.EncodeToString(sum[:])
		for _, s := range scripts {
			if s.sha == sha {
				m.scripts[sha] = s
			}
		}
		return bulk(sha)
	}
	m.log = append(m.log, strings.Join(args, " "))
	switch strings.ToUpper(args[0]) {
	case "EVALSHA":
		s := m.scripts[args[1]]
		if s == nil {
			return "-NOSCRIPT No matching script. Please use EVAL.\r\n"
		}
		return m.run(s, args[3:])
	case "EVAL":
		for _, s := range scripts {
			if s.text == args[1] {
				m.scripts[s.sha] = s
				return m.run(s, args[3:])
			}
		}
	case "GET":
		k, ok := m.key(args[1])
		switch {
		case !ok:
			return fakeNil
		case k.hash:
			return wrongType()
		}
		return bulk(k.value)
	case "SET":
		return m.set(args)
	case "PEXPIRE":
		k, ok := m.key(args[1])
		if !ok {
			return integer(0)
		}
		m.expire(args[1], k, args[2])
		return integer(1)
	}
	return "-ERR unknown command\r\n"
}

func (m *fakeMaster) expire(name string, k fakeKey, ms string) {
	n, _ := strconv.ParseInt(ms, 10, 64)
	if n <= 0 {
		delete(m.keys, name)
		return
	}
	k.until = time.Now().Add(time.Duration(n) * time.Millisecond)
	m.keys[name] = k
}

func (m *fakeMaster) set(args []string) string {
	old, exists := m.key(args[1])
	var nx, xx, get bool
	px := ""
	for i := 3; i < len(args); i++ {
		switch args[i] {
		case "NX":
			nx = true
		case "XX":
			xx = true
		case "GET":
			get = true
		case "PX":
			i++
			px = args[i]
		}
	}
	if get && old.hash {
		return wrongType()
	}
	if !(nx && exists || xx && !exists) {
		k := fakeKey{value: args[2]}
		m.keys[args[1]] = k
		if px != "" {
			m.expire(args[1], k, px)
		}
		if !get {
			return "+OK\r\n"
		}
	}
	if get && exists {
		return bulk(old.value)
	}
	return fakeNil
}

// run does what our scripts do.
func (m *fakeMaster) run(s *script, args []string) string {
	name := args[0]
	k, ok := m.key(name)
	switch s {
	case readScript, removeScript:
		if !ok {
			return array(bulk("none"))
		}
		if s == removeScript {
			delete(m.keys, name)
		}
		if k.hash {
			return array(bulk("hash"), bulk(""), integer(k.pttl()))
		}
		return array(bulk("string"), bulk(k.value), integer(k.pttl()))
	}
	if k.hash {
		return wrongType()
	}
	switch {
	case s == takeBackScript:
		if !ok || k.value != args[1] {
			return integer(0)
		}
		most, _ := strconv.ParseInt(args[2], 10, 64)
		if p := k.pttl(); p < 0 && args[3] != "1" || p > most {
			return integer(0)
		}
		delete(m.keys, name)
		return integer(1)
	case !ok:
		return integer(saysAbsent)
	case k.value != args[1]:
		return integer(saysOther)
	case s == releaseScript:
		delete(m.keys, name)
		return integer(k.pttl())
	}
	if args[2] == "" {
		k.until = time.Time{}
		m.keys[name] = k
	} else {
		m.expire(name, k, args[2])
	}
	return integer(1)
}

// What tests do to a master.

func (m *fakeMaster) locked(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *fakeMaster) value(name string) (v string) {
	m.locked(func() { k, _ := m.key(name); v = k.value })
	return v
}

func (m *fakeMaster) put(name, value string, ttl time.Duration) {
	m.locked(func() {
		k := fakeKey{value: value}
		if ttl > 0 {
			k.until = time.Now().Add(ttl)
		}
		m.keys[name] = k
	})
}

func (m *fakeMaster) commands() (log []string) {
	m.locked(func() { log = append(log, m.log...) })
	return log
}

func (m *fakeMaster) freeze() { m.locked(func() { m.thaw = make(chan struct{}) }) }

func (m *fakeMaster) unfreeze() {
	m.locked(func() { close(m.thaw); m.thaw = nil })
}

// cut ends all connections and refuses new ones until mend.
func (m *fakeMaster) cut() {
	m.locked(func() {
		m.refuse = true
		for id, c := range m.conns {
			c.Close()
			delete(m.conns, id)
		}
	})
}

func (m *fakeMaster) mend() { m.locked(func() { m.refuse = false }) }
