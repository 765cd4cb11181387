package master

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// Link is one connection to a master, identified, with the rueidis client that
// speaks on it. A client dials once: when its connection is gone it is of no
// more use, so that no command ever causes a dial.
type Link struct {
	client rueidis.Client
	framed *framedConn
	wire   wire
	Who    marker.Identity
	boot   func() time.Duration // our clock

	// least is the least round trip so far, and trips how many there were.
	least time.Duration
	trips int

	// ctx never ends, before Overlap. One that can has rueidis take a batch while another is
	// in flight, for which it has goroutines of its own from then on, and set no deadline.
	ctx context.Context
	end context.CancelFunc // of ctx, once the link is gone

	patience time.Duration // how long it waits for an answer, or for a stretch of one

	// loaded are the hashes of the journaled scripts that were sent on this link; see Knows.
	loaded map[string]struct{}
}

var errDialedTwice = errors.New("the connection is gone")

// Link connects to the master, identifies it and hands the connection to a new
// rueidis client. Everything is bounded by ctx. predecessor is who answered on the link before,
// whose connection is ended if it was to the same process; timeout is how long a batch may stay
// unanswered. The link is the caller's to close.
func (m *Master) Link(ctx context.Context, predecessor marker.Identity, timeout time.Duration) (*Link, error) {
	conn, err := m.connect(ctx)
	if err != nil {
		return nil, err
	}
	conn = m.quiet(ctx, conn)
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
	l := &Link{framed: newFramedConn(conn, &m.Rooms.Replies), Who: who, boot: m.Boot, ctx: context.Background(), end: func() {}, patience: timeout}
	l.framed.patience.Store(int64(timeout))
	l.wire = newWire(l.framed, timeout)
	l.framed.expect(1) // HELLO 2, with which rueidis begins
	dialed := false
	l.client, err = rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{m.Name},
		DialCtxFn: func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
			if dialed {
				return nil, errDialedTwice
			}
			dialed = true
			return l.framed, nil
		},
		// One connection, and no goroutine of rueidis's own on it before Overlap: a single
		// caller without a keep-alive is served in its own goroutine.
		ForceSingleClient:  true,
		PipelineMultiplex:  -1,
		Dialer:             net.Dialer{KeepAlive: -1, Timeout: timeout},
		ConnWriteTimeout:   timeout,
		RingScaleEachConn:  4, // has room for all that is on its way to one that is far
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

// Close ends the connection, before the client: rueidis would wait for a silent master.
func (l *Link) Close() {
	l.framed.Close()
	if l.client != nil {
		l.client.Close()
	}
	l.framed.giveAll()
	l.end()
}

// Interrupt ends the connection: whoever waits for an answer waits no longer. Any goroutine may
// call it, and the link is still to be closed.
func (l *Link) Interrupt() { l.framed.Close() }

// Heard is when a stretch of the answers last came, zero if none has.
func (l *Link) Heard() time.Time { return l.framed.heard() }

// Allow tells whether there are surveys among the next commands, whose replies are longer.
func (l *Link) Allow(surveys bool) { l.framed.allow(surveys) }

// Give gives the room back that answers have taken which are judged: their cost, as CostOf tells it.
func (l *Link) Give(cost int) { l.framed.give(cost) }

// TakeFrom has what the answers take be taken from another room than the master's for replies.
// It is called before anything is asked.
func (l *Link) TakeFrom(r *Room) { l.framed.room = r }

// NoteTrip takes in how long a batch has taken, by its proof.
func (l *Link) NoteTrip(batch clock.Sample) {
	if took := batch.Read - batch.Sent; l.trips == 0 || took < l.least {
		l.least = took
	}
	l.trips++
}

// RoundTrip is the shortest that NoteTrip was told of, and of how many; 0 of none.
func (l *Link) RoundTrip() (least time.Duration, trips int) { return l.least, l.trips }
