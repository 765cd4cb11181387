// Command floor is a proxy without duties, to show what is left for one with them: the
// server that redcon brings, one pipeline of rueidis to each master, and a count of the
// yeses. It has no limits, no validity, no undo, no proof that a master remembers, and
// believes every byte. Nobody should lock with it.
//
//	floor ADDRESS MASTER...
package main

import (
	"context"
	"log"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redis/rueidis"
	"github.com/tidwall/redcon"
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: floor ADDRESS MASTER...")
	}
	var f floor
	for _, addr := range os.Args[2:] {
		l, err := newLane(addr)
		if err != nil {
			log.Fatal(err)
		}
		f = append(f, l)
		go l.run(len(os.Args[2:]))
	}
	log.Fatal(redcon.ListenAndServe(os.Args[1], f.serve, nil, nil))
}

// floor is the lanes to the masters.
type floor []*lane

// serve answers what a client has sent at once.
func (f floor) serve(conn redcon.Conn, first redcon.Command) {
	commands := append([]redcon.Command{first}, conn.ReadPipeline()...)
	var undecided sync.WaitGroup
	all := make([]*op, len(commands))
	var asked []*op
	for i, c := range commands {
		all[i] = newOp(c, &undecided)
		if all[i].locks() {
			asked = append(asked, all[i])
		}
	}
	if len(asked) > 0 {
		undecided.Add(len(asked))
		for _, l := range f {
			l.put(asked)
		}
		undecided.Wait()
	}
	for _, o := range all {
		o.answer(conn)
	}
}

// op is one command.
type op struct {
	args      []string
	tally     atomic.Int32 // votes, and the yeses of them times perYes
	won       bool
	undecided *sync.WaitGroup
}

const perYes = 1 << 8

func newOp(c redcon.Command, undecided *sync.WaitGroup) *op {
	o := &op{args: make([]string, len(c.Args)), undecided: undecided}
	for i, word := range c.Args {
		o.args[i] = string(word)
	}
	o.args[0] = strings.ToUpper(o.args[0])
	return o
}

// locks tells that the masters are asked. It is what is measured: SET with NX, and
// scripts that answer 1 or 0.
func (o *op) locks() bool {
	return o.args[0] == "SET" || o.args[0] == "EVAL" || o.args[0] == "EVALSHA"
}

// vote counts one of n votes, and decides by it if it can.
func (o *op) vote(yes bool, n int32) {
	add := int32(1)
	if yes {
		add += perYes
	}
	t := o.tally.Add(add)
	yeses, noes := t/perYes, t%perYes-t/perYes
	quorum := n/2 + 1
	if yes && yeses == quorum || !yes && noes == n-quorum+1 {
		o.won = yes
		o.undecided.Done()
	}
}

// answer replies to a command. A script that is not won by its hash may be unknown, and
// is asked for by its text.
func (o *op) answer(conn redcon.Conn) {
	switch name := o.args[0]; {
	case name == "SET" && !o.won:
		conn.WriteNull()
	case name == "EVALSHA" && !o.won:
		conn.WriteError("NOSCRIPT No matching script. Please use EVAL.")
	case name == "EVAL" && !o.won:
		conn.WriteInt(0)
	case name == "EVAL", name == "EVALSHA":
		conn.WriteInt(1)
	case name == "HELLO":
		conn.WriteError("ERR unknown command 'HELLO'")
	case name == "CONFIG": // which redis-benchmark asks for before it begins
		conn.WriteArray(0)
	default:
		conn.WriteString("OK")
	}
}

// lane is the way to one master.
type lane struct {
	client rueidis.Client
	wake   chan struct{}

	mu    sync.Mutex // guards what follows
	idle  bool
	queue []*op
}

// newLane connects in the way that the real one has chosen.
func newLane(addr string) (*lane, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{addr}, ForceSingleClient: true, PipelineMultiplex: -1, RingScaleEachConn: 1,
		DisableRetry: true, DisableCache: true, AlwaysRESP2: true,
		ReadBufferEachConn: 64 << 10, WriteBufferEachConn: 64 << 10,
	})
	return &lane{client: c, wake: make(chan struct{}, 1)}, err
}

func (l *lane) put(ops []*op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, ops...)
	if l.idle {
		l.idle = false
		l.wake <- struct{}{}
	}
}

// run sends what has gathered while the batch before was on its way.
func (l *lane) run(masters int) {
	var spare []*op
	var commands []rueidis.Completed
	for {
		l.mu.Lock()
		if len(l.queue) == 0 {
			l.idle = true
			l.mu.Unlock()
			<-l.wake
			runtime.Gosched()
			l.mu.Lock()
		}
		ops := l.queue
		l.queue = spare[:0]
		l.mu.Unlock()
		commands = commands[:0]
		for _, o := range ops {
			commands = append(commands, l.client.B().Arbitrary(o.args...).Build())
		}
		for i, r := range l.client.DoMulti(context.Background(), commands...) {
			ops[i].vote(granted(r), int32(masters))
		}
		clear(ops)
		spare = ops
	}
}

// granted tells of a reply whether it is a yes.
func granted(r rueidis.RedisResult) bool {
	m, err := r.ToMessage()
	if err != nil {
		return false
	}
	if !m.IsInt64() {
		return true // the OK of SET
	}
	n, err := m.AsInt64()
	return err == nil && n == 1
}
