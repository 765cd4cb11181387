package browser

import (
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/integration"
	"redlock-proxy/proxy/page"
	"redlock-proxy/quorum"
)

// fake is a house without masters: it says of them what would be so. It is a page.Source.
type fake struct {
	t       *testing.T
	addr    string
	allowed bool
	since   time.Time

	server  *http.Server // of the test's goroutine, as is what follows
	handler *page.Handler

	mu        sync.Mutex // guards what follows
	all       []quorum.MasterStatus
	troubles  [][]page.Trouble
	locks     map[string]*page.Lock
	contended map[string]*page.Contended
	events    []page.Event
	more      chan struct{}
	given     []string
}

func newFake(t *testing.T, ordersAllowed bool) *fake {
	t.Helper()
	port, err := integration.FreePort()
	must(t, err)
	f := &fake{t: t, addr: fmt.Sprintf("127.0.0.1:%d", port), allowed: ordersAllowed, since: time.Now(), troubles: make([][]page.Trouble, 3),
		locks: map[string]*page.Lock{}, contended: map[string]*page.Contended{}, more: make(chan struct{})}
	for i := range 3 {
		f.all = append(f.all, quorum.MasterStatus{Name: fmt.Sprintf("10.0.0.%d:6379", i+1), State: quorum.Voting, Since: f.since.Add(-51 * time.Hour),
			RoundTrip: time.Duration(210+40*i) * time.Microsecond, ClockKnown: true, ClockOffset: time.Duration(i-1) * 300 * time.Microsecond, Version: "7.0.15",
			Granted: 184_201, Refused: 9_120, Withheld: uint64(i), Unasked: 17})
	}
	f.restore()
	t.Cleanup(f.cut)
	return f
}

func (f *fake) address() string { return "http://" + f.addr + "/" }

func (f *fake) masters() (names []string) {
	for i := range f.all {
		names = append(names, f.all[i].Name)
	}
	return names
}

func (f *fake) cut() {
	if f.server == nil {
		return
	}
	f.server.Close()
	f.handler.Close()
	f.server = nil
}

func (f *fake) restore() {
	l, err := net.Listen("tcp", f.addr)
	must(f.t, err)
	f.handler = page.New(page.Config{Source: f, Log: hclog.NewNullLogger()})
	f.server = &http.Server{Handler: f.handler}
	go f.server.Serve(l)
}

// happen does something with the lock held, and tells of it.
func (f *fake) happen(e page.Event, do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	e.Number, e.At = uint64(len(f.events)+1), page.Time(time.Now())
	f.events = append(f.events, e)
	close(f.more)
	f.more = make(chan struct{})
}

func (f *fake) becomes(master int, s quorum.State, why string) {
	m := &f.all[master]
	text := fmt.Sprintf("master %s is %s: %s", m.Name, s, why)
	f.happen(page.Event{Kind: "master", Master: m.Name, Trouble: why != "", Text: page.Text(strings.TrimSuffix(text, ": "))}, func() {
		m.State, m.Since, m.Reason, m.Left = s, time.Now(), why, 0
		if s == quorum.Quarantined || s == quorum.CatchingUp {
			m.Left, m.CatchUp.Needed = 4*time.Minute+51*time.Second, 2
		}
		if why != "" {
			f.troubles[master] = append([]page.Trouble{{At: page.Time(time.Now()), Text: page.Text(why)}}, f.troubles[master]...)
		}
		for _, l := range f.locks {
			if s != quorum.Voting {
				l.Votes[master] = page.VoteUnknown
			} else {
				l.Votes[master] = page.Granted
			}
		}
	})
}

func (f *fake) kill(master int) {
	f.becomes(master, quorum.Down, "dial tcp "+f.all[master].Name+": connect: connection refused")
}
func (f *fake) startBlank(master int) {
	f.becomes(master, quorum.Quarantined, "it has lost its memory: its marker is gone, and its run id is another")
}
func (f *fake) catchUp(master int) {
	f.becomes(master, quorum.CatchingUp, "it is given back what the others hold")
	f.mu.Lock()
	f.all[master].CatchUp = quorum.CatchUp{Copied: 1204, Sources: 1, Needed: 2}
	f.mu.Unlock()
	f.becomes(master, quorum.Voting, "")
}

func (f *fake) clock(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all[len(f.all)-1].ClockOffset = d
}

func (f *fake) votes(v page.Vote) []page.Vote {
	votes := make([]page.Vote, len(f.all))
	for i := range f.all {
		if votes[i] = v; f.all[i].State != quorum.Voting {
			votes[i] = page.Withheld
		}
	}
	return votes
}

func (f *fake) acquire(client, key string, ttl time.Duration) {
	sum := fnv.New32a()
	sum.Write([]byte(client + key))
	place := &page.Place{Key: page.Text(key)}
	f.happen(page.Event{Kind: "lock", Text: page.Text("a lock was granted to " + client), Lock: place}, func() {
		now := time.Now()
		f.locks[key] = &page.Lock{Key: page.Text(key), Type: "string", State: page.Held, Holder: fmt.Sprintf("%08x", sum.Sum32()), Proxy: "df1978df98eb2c32",
			Client: &page.Client{ID: int64(len(f.locks) + 7), Address: "10.0.3.9:52110", Name: page.Text(client), Library: "redis-py 5.0.1", User: "app"},
			Since:  page.Time(now), Until: page.Time(now.Add(ttl)), TTL: page.Millis(ttl), Votes: f.votes(page.Granted),
			Timeline: []page.Moment{{At: page.Time(now.Add(-time.Millisecond)), What: page.WasAsked, By: page.Text(client)},
				{At: page.Time(now), What: page.WasGranted, By: page.Text(client), Took: page.Micros(812 * time.Microsecond), Votes: f.votes(page.Granted)}}}
	})
}

// became adds to what became of a lock. mu is held.
func (f *fake) became(key string, m page.Moment) *page.Lock {
	l := f.locks[key]
	m.At = page.Time(time.Now())
	l.Timeline = append(slices.Clone(l.Timeline), m)
	return l
}

func (f *fake) extend(key string, ttl time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.became(key, page.Moment{What: page.WasExtended, By: f.locks[key].Client.Name, Took: page.Micros(600 * time.Microsecond), Votes: f.votes(page.Granted)})
	l.Extensions++
	l.Until, l.TTL = page.Time(time.Now().Add(ttl)), page.Millis(ttl)
}

func (f *fake) sitsBy(client, key string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.became(key, page.Moment{What: page.WasRefused, By: page.Text(client), Votes: f.votes(page.Refused), Count: n, Reason: "it is held"})
	l.Refusals += uint64(n)
	l.Waiters = 2
	c := f.contended[key]
	if c == nil {
		c = &page.Contended{Key: l.Key, LastKnownBy: l.Client.Name, Waiters: 2}
		f.contended[key] = c
		for i := range c.PerSecond {
			c.PerSecond[i] = uint((i * i * 7) % (i%11 + 2))
			c.Refusals += uint64(c.PerSecond[i])
		}
	}
	c.Refusals += uint64(n)
	c.PerSecond[59] += uint(n)
}

func (f *fake) end(key string, what page.What, by, reason string) {
	text := fmt.Sprintf("a lock was %s by %s", what, by)
	f.happen(page.Event{Kind: "lock", Text: page.Text(text), Lock: &page.Place{Key: page.Text(key)}}, func() {
		l := f.became(key, page.Moment{What: what, By: page.Text(by), Votes: f.votes(page.Granted), Reason: page.Text(reason)})
		l.State = page.Free
	})
}

func (f *fake) release(key string) {
	f.end(key, page.WasReleased, string(f.locks[key].Client.Name), "")
}

func (f *fake) forget(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.locks[key].Client, f.locks[key].Proxy = nil, ""
}

func (f *fake) orders() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.given)
}
