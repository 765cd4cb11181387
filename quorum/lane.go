package quorum

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/redis/rueidis"
)

// Bounds of a lane. What does not fit into the queue is a vote unknown at once.
const (
	// maxBatch keeps a batch below the size at which rueidis would take
	// another connection for it (2000).
	maxBatch = 1024
	maxQueue = 4096
	// maxReleases is how far releases may fill the queue: each of them frees
	// what an earlier command in it may still take.
	maxReleases = 2 * maxQueue
	maxErrands  = 2 * maxQueue
)

// lane is the one way to a master: a bounded queue and the goroutine that
// sends it, one batch at a time. Producers never wait for the master.
type lane struct {
	engine *Engine
	index  int
	master Master
	log    hclog.Logger

	wake chan struct{} // has room for one; sent to when idle is cleared
	counters

	// The fields below are guarded by mu.
	mu      sync.Mutex
	open    bool // a link is up: the queue takes commands
	idle    bool // the goroutine waits on wake
	queue   []*op
	errands []errand // go before the queue
	batch   []*op    // in flight
	sent    time.Time
	link    *link
	debts   debts
	state   State
	since   time.Time
	reason  string
	who     identity
	trips   time.Duration // round-trip time, moving average
	links   uint64

	// Used by the lane's goroutine alone.
	commands []rueidis.Completed
	argv     []string
	flush    []Asker
	spare    []*op
	troubled string // the trouble that was last logged

	// clock is the master's Unix time in microseconds when the engine started,
	// as of the last batch; 0 if it is not known yet.
	clock atomic.Int64
}

// errand is a command for one master alone, on which nobody waits: an undo, a
// debt paid, or a key given again. It goes to the head of the next batch.
type errand struct {
	debt debt
	heal *op       // if not nil, the extension whose key is to be set again
	from time.Time // of heal: when its ttl began
}

// push appends an op to the queue. If that cannot be, the lane's vote on it is
// unknown, and the caller's to cast.
func (l *lane) push(o *op) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open || len(l.queue) >= maxReleases || (len(l.queue) >= maxQueue && o.Kind != Release && o.Kind != Remove) {
		return false
	}
	l.queue = append(l.queue, o)
	l.rouse()
	return true
}

// rouse wakes the goroutine. mu is held.
func (l *lane) rouse() {
	if l.idle {
		l.idle = false
		l.wake <- struct{}{}
	}
}

// owe has the master take back what d names: at the head of the next batch, or
// when the master is back.
func (l *lane) owe(d debt, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open || len(l.errands) >= maxErrands {
		l.owed.Add(1)
		l.dropped.Add(uint64(l.debts.add(d, now)))
		return
	}
	l.errands = append(l.errands, errand{debt: d})
	l.rouse()
}

// heal gives the key of a won extension again to a master that had lost it.
func (l *lane) heal(o *op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open && len(l.errands) < maxErrands {
		l.errands = append(l.errands, errand{heal: o, from: o.put})
		l.rouse()
	}
}

// argv is the errand as the master gets it, or nil if it has come too late.
func (e *errand) argv(b []string, sha bool, now time.Time) []string {
	if e.heal == nil {
		if e.debt.over(now) {
			return nil
		}
		return e.debt.argv(b, sha, now)
	}
	b = append(b, "SET", e.heal.Key, e.heal.Token, "NX")
	if e.heal.ttl == 0 {
		return b
	}
	left := e.heal.ttl - now.Sub(e.from)
	if left <= 0 {
		return nil
	}
	return append(b, "PX", fmt.Sprint(milliseconds(left)))
}

// run is the lane's goroutine. It ends when ctx does.
func (l *lane) run(ctx context.Context) {
	tried := false
	for ctx.Err() == nil {
		link, err := l.connect(ctx)
		if err != nil {
			l.down(ctx, err)
		}
		if !tried {
			tried = true
			l.engine.laneTried()
		}
		if err == nil {
			began := time.Now()
			l.lose(ctx, link, l.serve(ctx, link))
			if time.Since(began) > l.engine.ProbeInterval {
				continue // at once: it may be a passing fault of the connection
			}
		}
		pause(ctx, l.engine.ProbeInterval/8+rand.N(l.engine.ProbeInterval/8))
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// connect dials and identifies the master.
func (l *lane) connect(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, l.engine.ConnectTimeout)
	defer cancel()
	l.mu.Lock()
	predecessor := l.who
	l.mu.Unlock()
	link, err := l.master.dial(ctx, predecessor, l.engine.MasterTimeout)
	if err != nil {
		return nil, err
	}
	if twin := l.engine.claim(l.index, link.who.runID); twin != "" {
		link.close()
		return nil, fmt.Errorf("it is the same server as %s", twin)
	}
	l.tick(link.clock)
	return link, nil
}

// serve pays the debts and then carries batches to the master, until the link
// breaks or ctx ends.
func (l *lane) serve(ctx context.Context, link *link) error {
	l.mu.Lock()
	l.link, l.who = link, link.who
	l.links++
	l.enter(Connecting, "")
	l.mu.Unlock()
	// What rueidis waits for ends when the connection does.
	stop := context.AfterFunc(ctx, func() { link.guard.Close() })
	defer stop()

	for {
		due := l.openWhenPaid()
		if due == nil {
			break
		}
		if err := l.exchange(link, due, nil, true); err != nil {
			return err
		}
	}
	l.log.Info("master is voting", "run_id", link.who.runID, "version", link.who.version)
	l.troubled = ""
	for {
		errands, ops, err := l.take(ctx)
		if err != nil {
			return err
		}
		if err := l.exchange(link, errands, ops, true); err != nil {
			return err
		}
	}
}

// openWhenPaid returns the next debts to pay; when there are none, the queue is
// open for commands in the same step, so that none can come before a debt.
func (l *lane) openWhenPaid() []errand {
	l.mu.Lock()
	defer l.mu.Unlock()
	due, dropped := l.debts.take(maxBatch, time.Now())
	l.dropped.Add(uint64(dropped))
	if len(due) == 0 {
		l.open = true
		l.enter(Voting, "")
		return nil
	}
	errands := make([]errand, len(due))
	for i, d := range due {
		errands[i] = errand{debt: d}
	}
	return errands
}

// take waits for something to send, and takes a batch of it. An empty batch is
// a probe.
func (l *lane) take(ctx context.Context) ([]errand, []*op, error) {
	l.mu.Lock()
	for len(l.queue) == 0 && len(l.errands) == 0 {
		l.idle = true
		l.mu.Unlock()
		select {
		case <-l.wake:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		l.mu.Lock()
		if len(l.queue) == 0 && len(l.errands) == 0 {
			break // roused to probe
		}
	}
	defer l.mu.Unlock()
	errands := l.errands[:min(len(l.errands), maxBatch)]
	if len(errands) == len(l.errands) {
		l.errands = nil
	} else {
		l.errands = l.errands[len(errands):]
	}
	ops := l.queue
	if n := maxBatch - len(errands); len(ops) > n {
		ops = ops[:n:n]
		l.queue = l.queue[n:]
	} else {
		l.queue, l.spare = l.spare[:0], nil
	}
	l.batch = ops
	return errands, ops, nil
}

// exchange sends one batch and casts the votes of its answers. sha is false for
// commands that are sent once more with their scripts' texts.
func (l *lane) exchange(link *link, errands []errand, ops []*op, sha bool) error {
	now := time.Now()
	l.commands = l.commands[:0]
	sentErrands := errands[:0:0]
	for _, e := range errands {
		if argv := e.argv(l.argv[:0], sha, now); argv != nil {
			l.commands = append(l.commands, link.client.B().Arbitrary(argv...).Build())
			sentErrands = append(sentErrands, e)
			l.argv = argv
		} else if e.heal == nil {
			l.dropped.Add(1)
		}
	}
	// Ops that are pointless by now are voted on only after the batch has left
	// l.batch, as all others are.
	skipped := 0
	sent := make([]bool, len(ops))
	for i, o := range ops {
		if o.pointless() {
			skipped++
			continue
		}
		sent[i] = true
		l.argv = o.argv(l.argv[:0], link.who.nxGet, sha)
		l.commands = append(l.commands, link.client.B().Arbitrary(l.argv...).Build())
	}
	l.begin(ops, now)
	answers, clock, err := link.exchange(l.commands)
	now = l.end(now)
	if err != nil {
		l.abandon(sentErrands, ops, now)
		return err
	}
	l.tick(clock)

	var again []errand
	var opsAgain []*op
	var trouble string
	for i, e := range sentErrands {
		a := l.read(answers[i])
		switch {
		case a.failed("NOSCRIPT") && sha:
			again = append(again, e)
		case e.heal != nil:
			l.heals.Add(1)
		default:
			l.paid.Add(1)
			if a.int > 0 {
				l.undos.Add(1)
			}
		}
	}
	answers = answers[len(sentErrands):]
	for i, o := range ops {
		v, did := Unknown, false
		if sent[i] {
			a := l.read(answers[0])
			answers = answers[1:]
			if a.failed("NOSCRIPT") && sha {
				opsAgain = append(opsAgain, o)
				continue
			}
			if a.aside() {
				trouble = a.str
			}
			v, did, o.said[l.index] = o.judge(a, link.who.nxGet)
		}
		l.vote(o, v, did, now)
	}
	l.flushAll()
	l.recycle(ops)
	if len(again)+len(opsAgain) > 0 {
		// The master has lost our scripts (SCRIPT FLUSH). Nothing was carried out.
		return l.exchange(link, again, opsAgain, false)
	}
	if len(ops) == 0 {
		return nil
	}
	return l.trouble(trouble)
}

func (l *lane) read(r rueidis.RedisResult) answer {
	m, _ := r.ToMessage()
	return newAnswer(m)
}

func (l *lane) vote(o *op, v Vote, did bool, now time.Time) {
	l.votes[v].Add(1)
	if o.vote(l.index, v, did, now) {
		l.flush = append(l.flush, o.asker)
	}
}

func (l *lane) flushAll() {
	for _, a := range l.flush {
		a.Flush()
	}
	clear(l.flush)
	l.flush = l.flush[:0]
}

// begin and end note what is in flight, for the sweeper and for INFO.
func (l *lane) begin(ops []*op, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batch, l.sent = ops, now
}

func (l *lane) end(began time.Time) time.Time {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batch = nil
	if l.trips == 0 {
		l.trips = now.Sub(began)
	}
	l.trips += (now.Sub(began) - l.trips) / 16
	return now
}

// recycle keeps the array of a batch for the queue after next.
func (l *lane) recycle(ops []*op) {
	if cap(ops) >= maxBatch/16 && cap(ops) <= maxReleases {
		clear(ops)
		l.spare = ops[:0]
	}
}

// abandon casts the votes of a batch that failed: any of it may have been
// carried out or not.
func (l *lane) abandon(errands []errand, ops []*op, now time.Time) {
	l.mu.Lock()
	l.open = false
	errands = append(errands, l.errands...)
	l.errands = nil
	for _, e := range errands {
		if e.heal == nil {
			l.owed.Add(1)
			l.dropped.Add(uint64(l.debts.add(e.debt, now)))
		}
	}
	queue := l.queue
	l.queue = nil
	l.mu.Unlock()
	for _, o := range ops {
		l.vote(o, Unknown, false, now)
	}
	for _, o := range queue {
		l.vote(o, Unknown, false, now)
	}
	l.flushAll()
}

// errTrouble is a master's error that a new look at the gate must settle.
type errTrouble string

func (e errTrouble) Error() string { return string(e) }

// trouble looks at an error that a master answered about itself. Some mean that
// it is not what it was at the gate, and end the link.
func (l *lane) trouble(text string) error {
	if text == "" {
		if l.troubled != "" {
			l.troubled = ""
			l.log.Info("master accepts commands again")
		}
		return nil
	}
	for _, code := range []string{"LOADING", "READONLY", "NOAUTH", "MASTERDOWN", "CLUSTERDOWN", "MOVED"} {
		if (answer{kind: FailureReply, str: text}).failed(code) {
			return errTrouble(text)
		}
	}
	if code, _, _ := strings.Cut(text, " "); code != l.troubled {
		l.troubled = code
		l.log.Warn("master refuses commands", "error", text)
	}
	return nil
}

// lose ends a link that broke, or that ctx ended.
func (l *lane) lose(ctx context.Context, link *link, err error) {
	link.close()
	l.abandon(nil, nil, time.Now())
	l.mu.Lock()
	l.link = nil
	l.mu.Unlock()
	l.engine.unclaim(l.index)
	l.down(ctx, err)
}

// down notes why there is no link, and says so once.
func (l *lane) down(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	reason := reasonOf(err)
	l.mu.Lock()
	before, was := l.state, l.reason
	l.enter(Down, reason)
	l.mu.Unlock()
	switch {
	case before != Down:
		l.log.Warn("master is down", "reason", reason)
	case was != reason:
		l.log.Debug("master is still down", "reason", reason)
	}
}

// enter changes the state. mu is held.
func (l *lane) enter(s State, reason string) {
	if l.state != s {
		l.since = time.Now()
	}
	l.state, l.reason = s, reason
}

// reasonOf says in a few words why a connection failed.
func reasonOf(err error) string {
	var op *net.OpError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it closed the connection"
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}

// tick notes the master's clock.
func (l *lane) tick(clock time.Time) {
	l.clock.Store(clock.UnixMicro() - l.engine.elapsed().Microseconds())
}

// probe rouses an idle lane that has sent nothing for a while.
func (l *lane) probe(now time.Time, after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open && l.idle && now.Sub(l.sent) >= after {
		l.rouse()
	}
	if !l.open {
		l.dropped.Add(uint64(l.debts.expire(now)))
	}
}

// overdue appends the ops of this lane whose time is up and which are not decided.
func (l *lane) overdue(ops []*op, now time.Time) []*op {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, list := range [][]*op{l.batch, l.queue} {
		for _, o := range list {
			if o.overdue(now) && o.ballot.load().decision() == undecided {
				ops = append(ops, o)
			}
		}
	}
	return ops
}

// busy tells that the lane has something to do that it can do.
func (l *lane) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open && len(l.queue)+len(l.errands)+len(l.batch) > 0
}

func (l *lane) status() MasterStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	return MasterStatus{
		Name:       l.master.Name,
		State:      l.state,
		Since:      l.since,
		Reason:     l.reason,
		RunID:      l.who.runID,
		Version:    l.who.version,
		RoundTrip:  l.trips,
		Granted:    l.votes[Granted].Load(),
		Refused:    l.votes[Refused].Load(),
		Unknown:    l.votes[Unknown].Load(),
		Withheld:   l.votes[Withheld].Load(),
		Queue:      len(l.queue),
		InBatch:    len(l.batch),
		Debts:      l.debts.len(),
		DebtBytes:  l.debts.bytes,
		Reconnects: max(l.links, 1) - 1,
	}
}
