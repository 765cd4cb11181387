package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// link is one connection to a master, identified, with the rueidis client that
// speaks on it. A client dials once: when its connection is gone it is of no
// more use, so that no command ever causes a dial.
type link struct {
	client rueidis.Client
	guard  *guard
	who    marker.Identity
	boot   func() time.Duration // our clock

	// least is the least round trip so far, and trips how many there were.
	least time.Duration
	trips int

	// at is what the master's clock showed at the end of the latest batch of those that
	// were answered, and looked when that was sent.
	at     time.Duration
	looked time.Time

	// ctx never ends. One that could has rueidis take a batch while another is in
	// flight, for which it has goroutines of its own from then on, and sets no deadline.
	ctx context.Context
	end context.CancelFunc // of ctx, once the link is gone

	patience time.Duration // how long it waits for an answer, or for a stretch of one

	// loaded are the journaled scripts that were sent on this link.
	loaded map[string]struct{}
}

// maxLoaded bounds what a link remembers of scripts. Beyond it they are sent
// with their text again.
const maxLoaded = 10_000

// knows tells whether the master has a script already, and notes that it will:
// the caller sends the text otherwise.
func (l *link) knows(sha string) bool {
	if _, ok := l.loaded[sha]; ok {
		return true
	}
	if l.loaded == nil || len(l.loaded) >= maxLoaded {
		l.loaded = make(map[string]struct{})
	}
	l.loaded[sha] = struct{}{}
	return false
}

var errDialedTwice = errors.New("the connection is gone")

// dial connects to the master, identifies it and hands the connection to a new
// rueidis client. Everything is bounded by ctx.
func (m *Master) dial(ctx context.Context, predecessor marker.Identity, timeout time.Duration) (*link, error) {
	conn, err := m.connect(ctx)
	if err != nil {
		return nil, err
	}
	// A shutdown does not wait for a silent master.
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	l, err := m.open(conn, predecessor, timeout)
	if !stop() && err == nil {
		l.close()
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		if ctx.Err() != nil {
			err = ctx.Err() // rather than that the connection was closed for it
		}
		return nil, err
	}
	return l, nil
}

// connect opens a connection with the deadline of ctx.
func (m *Master) connect(ctx context.Context) (net.Conn, error) {
	connect := m.Dial
	if connect == nil {
		connect = new(net.Dialer).DialContext
	}
	conn, err := connect(ctx, m.Network, m.Address)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
	}
	return conn, nil
}

// secure begins TLS where the master wants it.
func (m *Master) secure(conn net.Conn) (net.Conn, error) {
	if m.TLS == nil {
		return conn, nil
	}
	secured := tls.Client(conn, m.TLS())
	return secured, secured.Handshake()
}

func (m *Master) credentials() (user, password string) {
	if m.Credentials == nil {
		return "", ""
	}
	return m.Credentials()
}

func (m *Master) open(conn net.Conn, predecessor marker.Identity, timeout time.Duration) (*link, error) {
	conn, err := m.secure(conn)
	if err != nil {
		return nil, err
	}
	user, password := m.credentials()
	who, err := identify(conn, user, password, m.client, predecessor)
	if err != nil {
		return nil, err
	}
	if m.db != 0 {
		if err := selectDatabase(conn, m.db); err != nil {
			return nil, err
		}
	}
	if m.rooms == nil {
		m.rooms = newRooms(0, 1)
	}
	l := &link{guard: &guard{Conn: plain(conn), room: &m.rooms.replies}, who: who, boot: m.boot, ctx: context.Background(), end: func() {}, patience: timeout}
	l.guard.patience.Store(int64(timeout))
	l.guard.expect(1) // HELLO 2, with which rueidis begins
	dialed := false
	l.client, err = rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{m.Name},
		DialCtxFn: func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
			if dialed {
				return nil, errDialedTwice
			}
			dialed = true
			return l.guard, nil
		},
		// One connection, and no goroutine of rueidis's own on it: a single
		// caller without a keep-alive is served in its own goroutine.
		ForceSingleClient:  true,
		PipelineMultiplex:  -1,
		Dialer:             net.Dialer{KeepAlive: -1, Timeout: timeout},
		ConnWriteTimeout:   timeout,
		RingScaleEachConn:  4, // has room for maxAbreast
		ReadBufferEachConn: 64 << 10, WriteBufferEachConn: 64 << 10,
		// A retried SET NX would meet itself.
		DisableRetry:  true,
		DisableCache:  true,
		AlwaysRESP2:   true,
		ClientSetInfo: rueidis.DisableClientSetInfo,
	})
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// close ends the connection first: rueidis would wait for a silent master.
func (l *link) close() {
	l.guard.Close()
	if l.client != nil {
		l.client.Close()
	}
	l.guard.giveAll()
	l.end()
}

// saw takes in how long a batch has taken.
func (l *link) saw(clock clock.Sample) {
	if took := clock.Read - clock.Sent; l.trips == 0 || took < l.least {
		l.least = took
	}
	l.trips++
}

// proof is what ends a batch: which nonce the master's marker has, and what its
// clock shows. It also proves that the answers belong to the commands: if the
// master had answered one command twice or not at all, it would not stand there.
type proof struct {
	nonce marker.Nonce // "" if there is no marker
	clock clock.Sample
}

// askProof are the commands that ask for it. Pinned, rueidis does not take them for its own.
var askProof = []rueidis.Completed{
	rueidis.Builder{}.Arbitrary("GETRANGE", quorum.MarkerKey, "0", marker.LastOfNonce).Build().Pin(),
	askTime,
}

// exchange sends commands as one batch, with the proof at its end, and returns the
// answers and the proof. An error means that any of the commands may have been
// carried out or not, and that the link is of no more use, as where no answer comes in time.
func (l *link) exchange(commands []rueidis.Completed) (answers []rueidis.RedisResult, p proof, err error) {
	if l.ctx.Done() == nil {
		return l.converse(commands)
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		answers, p, err = l.converse(commands)
	}()
	timeout := time.NewTimer(l.patience)
	defer timeout.Stop()
	for {
		select {
		case <-answered:
			return answers, p, err
		case <-timeout.C:
		}
		if left := l.patience - time.Since(l.guard.heard()); left > 0 {
			timeout.Reset(left)
			continue
		}
		l.guard.Close()
		<-answered
		return nil, p, os.ErrDeadlineExceeded
	}
}

// converse is exchange by somebody for whom others set the time, if rueidis does not.
func (l *link) converse(commands []rueidis.Completed) (answers []rueidis.RedisResult, p proof, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("rueidis: %v", p)
		}
	}()
	commands = append(commands, askProof...)
	l.guard.expect(len(commands))
	p.clock.Sent = l.boot()
	answers = l.client.DoMulti(l.ctx, commands...)
	p.clock.Read = l.boot()
	for _, a := range answers {
		if err := a.NonRedisError(); err != nil {
			return nil, p, err
		}
	}
	last := len(answers) - len(askProof)
	cost := 0
	mark, end := l.read(answers[last], &cost), l.read(answers[last+1], &cost)
	l.guard.give(cost)
	now, ok := masterTime(end)
	switch {
	case end.kind == quorum.FailureReply:
		return nil, p, errTrouble(end.str)
	case !ok:
		return nil, p, errGarbage
	}
	p.clock.At = time.Duration(now.UnixNano())
	// An error is as good as no marker: something else is in its place.
	if mark.kind == quorum.BulkReply {
		p.nonce = marker.Nonce(mark.str)
	}
	return answers[:last], p, nil
}

// read takes over an answer, and adds to cost what is to be given back once it is judged. One
// of which something was left out is an error as a whole.
func (l *link) read(r rueidis.RedisResult, cost *int) answer {
	m, _ := r.ToMessage()
	a := newAnswer(m)
	*cost += a.cost()
	if l.guard.leavesOut.Load() {
		if n := a.leftOut(); n > 0 {
			return answer{kind: quorum.FailureReply, str: saysTooLong(n)}
		}
	}
	return a
}

// readAll is read of the few answers of somebody who has judged them before the next ones.
func (l *link) readAll(results []rueidis.RedisResult) []answer {
	answers, cost := make([]answer, len(results)), 0
	for i, r := range results {
		answers[i] = l.read(r, &cost)
	}
	l.guard.give(cost)
	return answers
}

// askTime asks for the master's time.
var askTime = rueidis.Builder{}.Arbitrary("TIME").Build().Pin()

// do sends one command as a batch of its own.
func (l *link) do(argv ...string) (answer, proof, error) {
	answers, p, err := l.exchange([]rueidis.Completed{l.client.B().Arbitrary(argv...).Build()})
	if err != nil {
		return answer{}, p, err
	}
	return l.readAll(answers)[0], p, nil
}
