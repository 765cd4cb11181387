package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"redlock-proxy/quorum/master"
)

// fakeMaster behaves like one Redis as far as the engine can see: keys with
// expiry by a clock of its own, our scripts' effects, connections that can be
// killed, and a socket whose contents are carried out late after a freeze. It
// runs in virtual time. What it does with commands is in fakecommands_test.go and
// fakekeys_test.go, and with our scripts in fakescripts_test.go.
//
// It is as wide as what may be done to a Redis and what may befall one, and all of that meets at
// the same keys under one lock.
type fakeMaster struct {
	name string

	mu       sync.Mutex // guards what follows
	runID    string
	restarts int
	version  string
	info     string // more lines of INFO
	settings map[string]string
	password string
	born     time.Time
	rate     float64            // of its clock; 0 is 1
	jumped   time.Duration      // of its clock
	keys     map[string]fakeKey // of the database in use, which is 0 between commands
	data     fakeData           // of all databases, but for the one in use
	using    int
	count    int // of databases; 0 is Databases
	evicted  int // keys, as INFO tells
	scripts  map[string]*master.Script
	conns    map[int64]*socket
	named    map[int64]string // connections
	selected map[int64]int    // by connections, where it is not 0
	lastID   int64

	replica bool // writes are refused

	subscribers map[int64]string // connection to channel
	watchers    map[int64]*fakeWatcher
	fakeTold

	dumps   []fakeData
	written *fakeData // the log on disk, if it was switched off

	kills int
	dials int

	refuse  bool                               // dials fail
	thaw    chan struct{}                      // while frozen; closed by unfreeze
	behind  map[int64]chan struct{}            // connections that are served later
	far     time.Duration                      // it is away, one way
	lag     time.Duration                      // before a batch is carried out
	delay   time.Duration                      // until the end of a batch, carried out, is answered
	respond func(args []string) string         // a reply of its own instead, if not ""
	after   func(args []string, m *fakeMaster) // called once a command was carried out

	quiet bool     // keep no log
	log   []string // commands carried out, but for housekeeping
}

// What respond returns for no reply at all, and for one when those that are held back
// are served.
const (
	silence = "\x00"
	later   = "\x01"
)

func newFakeMaster(name string) *fakeMaster {
	data := newFakeData()
	return &fakeMaster{
		name:     name,
		runID:    name + "-0",
		version:  "7.0.15",
		born:     time.Now(),
		data:     data,
		keys:     data[0],
		scripts:  make(map[string]*master.Script),
		conns:    make(map[int64]*socket),
		selected: make(map[int64]int),
	}
}

func (m *fakeMaster) master() master.Master {
	return master.Master{Name: m.name, Network: "fake", Address: m.name, Dial: m.dial}
}

// dial succeeds also while the master is frozen: the kernel accepts for it.
func (m *fakeMaster) dial(ctx context.Context, network, address string) (net.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dials++
	if m.refuse {
		return nil, errors.New("connection refused")
	}
	ours, theirs := newSocket()
	ours.out.far, theirs.out.far = m.far, m.far
	m.lastID++
	m.conns[m.lastID] = theirs
	go m.serve(theirs, m.lastID)
	return ours, nil
}

func (m *fakeMaster) serve(conn *socket, id int64) {
	defer m.unwatch(id, conn)
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		first := r.Buffered() == 0
		args, err := readCall(r)
		if err != nil {
			return
		}
		reply, ok := m.carryOut(args, id, first)
		if !ok {
			return
		}
		if strings.ToUpper(args[0]) == "TIME" && !first {
			time.Sleep(m.late())
		}
		// An asker that has gone keeps nothing of its batch from being carried
		// out, so an error is no end.
		if reply != silence {
			io.WriteString(conn, reply)
		}
	}
}

// late is how long the end of a batch waits until it is answered.
func (m *fakeMaster) late() (d time.Duration) {
	m.locked(func() { d = m.delay })
	return d
}

func (m *fakeMaster) carryOut(args []string, id int64, first bool) (reply string, ok bool) {
	m.mu.Lock()
	lag := m.lag
	if !first {
		lag = 0
	}
	if lag > 0 {
		m.mu.Unlock()
		time.Sleep(lag)
		m.mu.Lock()
	}
	for m.thaw != nil {
		thaw := m.thaw
		m.mu.Unlock()
		<-thaw
		m.mu.Lock()
	}
	if until := m.behind[id]; until != nil {
		m.mu.Unlock()
		<-until
		m.mu.Lock()
	}
	defer m.mu.Unlock()
	if m.conns[id] == nil { // ended meanwhile
		return "", false
	}
	m.use(m.selected[id])
	defer m.use(0)
	return m.perform(args, id), true
}

// perform carries a command out, or queues it, and notes what of that is watched.
func (m *fakeMaster) perform(args []string, id int64) (reply string) {
	defer m.notice()
	if args, reply = m.unprint(args); reply != "" {
		return reply
	}
	if args, reply = m.undate(args); reply != "" {
		m.note(append([]string{"late"}, args...))
		return reply
	}
	if args, reply = m.unbind(args); reply != "" {
		m.note(append([]string{"left"}, args...))
		return reply
	}
	if args, reply = m.unpage(args); reply != "" {
		return reply
	}
	if m.respond != nil {
		switch reply = m.respond(args); reply {
		case "":
		case later:
			until := m.behind[id]
			m.use(0)
			m.mu.Unlock()
			<-until
			m.mu.Lock()
			m.use(m.selected[id])
		default:
			return reply
		}
	}
	if reply = m.transact(args, id); reply != "" {
		return reply
	}
	if reply = fakeReadOnly; !m.replica || !writes(args) {
		reply = m.do(args, id)
	}
	if m.after != nil {
		m.after(args, m)
	}
	return reply
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

func (m *fakeMaster) client(args []string, id int64) string {
	if args[1] == "ID" {
		return integer(id)
	}
	switch args[1] {
	case "SETNAME":
		if m.named == nil {
			m.named = make(map[int64]string)
		}
		m.named[id] = args[2]
		return "+OK\r\n"
	case "LIST":
		list := ""
		for id := range m.conns {
			list += fmt.Sprintf("id=%d addr=fake:1 name=%s db=0\n", id, m.named[id])
		}
		return bulk(list)
	}
	m.note(args)
	if args[1] == "TRACKING" {
		if m.tells {
			return m.track(args, id)
		}
		return "-ERR unknown subcommand 'TRACKING'. Try CLIENT HELP.\r\n"
	}
	killed, _ := strconv.ParseInt(args[3], 10, 64)
	conn := m.conns[killed]
	if conn == nil {
		return integer(0)
	}
	delete(m.conns, killed)
	conn.Close()
	m.kills++
	return integer(1)
}
