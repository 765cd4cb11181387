package master

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
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/marker"
)

// Link is one connection to a master, identified, with the rueidis client that
// speaks on it. A client dials once: when its connection is gone it is of no
// more use, so that no command ever causes a dial.
type Link struct {
	client rueidis.Client
	guard  *guard
	Who    marker.Identity
	boot   func() time.Duration // our clock

	// least is the least round trip so far, and trips how many there were.
	least time.Duration
	trips int

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

// Knows tells whether the master has a script already, and notes that it will:
// the caller sends the text otherwise.
func (l *Link) Knows(sha string) bool {
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

// Link connects to the master, identifies it and hands the connection to a new
// rueidis client. Everything is bounded by ctx.
func (m *Master) Link(ctx context.Context, predecessor marker.Identity, timeout time.Duration) (*Link, error) {
	conn, err := m.connect(ctx)
	if err != nil {
		return nil, err
	}
	// A shutdown does not wait for a silent master.
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	l, err := m.open(conn, predecessor, timeout)
	if !stop() && err == nil {
		l.Close()
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

func (m *Master) open(conn net.Conn, predecessor marker.Identity, timeout time.Duration) (*Link, error) {
	conn, err := m.secure(conn)
	if err != nil {
		return nil, err
	}
	who, err := m.identify(conn, predecessor)
	if err != nil {
		return nil, err
	}
	if m.DB != 0 {
		if err := selectDatabase(conn, m.DB); err != nil {
			return nil, err
		}
	}
	if m.Rooms == nil {
		m.Rooms = NewRooms(0, 1)
	}
	l := &Link{guard: &guard{Conn: plain(conn), room: &m.Rooms.Replies}, Who: who, boot: m.Boot, ctx: context.Background(), end: func() {}, patience: timeout}
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
		l.Close()
		return nil, err
	}
	return l, nil
}

// Close ends the connection first: rueidis would wait for a silent master.
func (l *Link) Close() {
	l.guard.Close()
	if l.client != nil {
		l.client.Close()
	}
	l.guard.giveAll()
	l.end()
}

// Interrupt ends the connection: whoever waits for an answer waits no longer.
func (l *Link) Interrupt() { l.guard.Close() }

// Heard is when a stretch of the answers last came, zero if none has.
func (l *Link) Heard() time.Time { return l.guard.heard() }

// Allow tells whether there are surveys among the next commands, whose replies are longer.
func (l *Link) Allow(surveys bool) { l.guard.allow(surveys) }

// Give gives the room back that answers have taken which are judged: their cost, see read.
func (l *Link) Give(cost int) { l.guard.give(cost) }

// TakeFrom has what the answers take be taken from another room than the master's for replies.
// Nothing has been asked yet.
func (l *Link) TakeFrom(r *Room) { l.guard.room = r }

// Overlap lets several batches be on their way, by converse. Who waits for an answer sets the
// time from here on.
func (l *Link) Overlap() {
	if l.ctx.Done() == nil {
		l.ctx, l.end = context.WithCancel(context.Background())
		l.guard.patience.Store(0)
	}
}

// RoundTrip is the least so far, of so many.
func (l *Link) RoundTrip() (least time.Duration, trips int) { return l.least, l.trips }

// Command makes a command for one of the next batches.
func (l *Link) Command(argv ...string) rueidis.Completed {
	return l.client.B().Arbitrary(argv...).Build()
}

// Forget has all journaled scripts be sent again with their text.
func (l *Link) Forget() { l.loaded = nil }

// Saw takes in how long a batch has taken.
func (l *Link) Saw(clock clock.Sample) {
	if took := clock.Read - clock.Sent; l.trips == 0 || took < l.least {
		l.least = took
	}
	l.trips++
}

// Proof is what ends a batch: which nonce the master's marker has, and what its
// clock shows. It also proves that the answers belong to the commands: if the
// master had answered one command twice or not at all, it would not stand there.
type Proof struct {
	Nonce marker.Nonce // "" if there is no marker
	Clock clock.Sample
}

// AskProof are the commands that ask for it. Pinned, rueidis does not take them for its own.
var AskProof = []rueidis.Completed{
	rueidis.Builder{}.Arbitrary("GETRANGE", quorum.MarkerKey, "0", marker.LastOfNonce).Build().Pin(),
	AskTime,
}

// Exchange sends commands as one batch, with the proof at its end, and returns the
// answers and the proof. An error means that any of the commands may have been
// carried out or not, and that the link is of no more use, as where no answer comes in time.
func (l *Link) Exchange(commands []rueidis.Completed) (answers []rueidis.RedisResult, p Proof, err error) {
	if l.ctx.Done() == nil {
		return l.Converse(commands)
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		answers, p, err = l.Converse(commands)
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

// Converse is exchange by somebody for whom others set the time, if rueidis does not.
func (l *Link) Converse(commands []rueidis.Completed) (answers []rueidis.RedisResult, p Proof, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("rueidis: %v", p)
		}
	}()
	commands = append(commands, AskProof...)
	l.guard.expect(len(commands))
	p.Clock.Sent = l.boot()
	answers = l.client.DoMulti(l.ctx, commands...)
	p.Clock.Read = l.boot()
	for _, a := range answers {
		if err := a.NonRedisError(); err != nil {
			return nil, p, err
		}
	}
	last := len(answers) - len(AskProof)
	cost := 0
	mark, end := l.Read(answers[last], &cost), l.Read(answers[last+1], &cost)
	l.guard.give(cost)
	now, ok := TimeOf(end)
	switch {
	case end.Kind == quorum.FailureReply:
		return nil, p, Trouble(end.Str)
	case !ok:
		return nil, p, ErrGarbage
	}
	p.Clock.At = time.Duration(now.UnixNano())
	// An error is as good as no marker: something else is in its place.
	if mark.Kind == quorum.BulkReply {
		p.Nonce = marker.Nonce(mark.Str)
	}
	return answers[:last], p, nil
}

// Read takes over an answer, and adds to cost what is to be given back once it is judged. One
// of which something was left out is an error as a whole.
func (l *Link) Read(r rueidis.RedisResult, cost *int) decide.Answer {
	m, _ := r.ToMessage()
	a := newAnswer(m)
	*cost += costOf(&a)
	if l.guard.leavesOut.Load() {
		if n := a.LeftOut(); n > 0 {
			return decide.Answer{Kind: quorum.FailureReply, Str: decide.SaysTooLong(n)}
		}
	}
	return a
}

// ReadAll is read of the few answers of somebody who has judged them before the next ones.
func (l *Link) ReadAll(results []rueidis.RedisResult) []decide.Answer {
	answers, cost := make([]decide.Answer, len(results)), 0
	for i, r := range results {
		answers[i] = l.Read(r, &cost)
	}
	l.guard.give(cost)
	return answers
}

// AskTime asks for the master's time.
var AskTime = rueidis.Builder{}.Arbitrary("TIME").Build().Pin()

// Do sends one command as a batch of its own.
func (l *Link) Do(argv ...string) (decide.Answer, Proof, error) {
	answers, p, err := l.Exchange([]rueidis.Completed{l.client.B().Arbitrary(argv...).Build()})
	if err != nil {
		return decide.Answer{}, p, err
	}
	return l.ReadAll(answers)[0], p, nil
}
