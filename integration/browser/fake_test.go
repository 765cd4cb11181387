package browser

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"path"
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

// ---- the Source

func (f *fake) Overview() page.Overview {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expire()
	o := page.Overview{Proxy: page.Proxy{ID: "df1978df98eb2c32", Address: "10.0.1.4:6380", Version: "1.4.0", Since: page.Time(f.since), Clients: 41},
		Proxies: []page.Proxy{{ID: "02ab71f0c3d94e11", Address: "10.0.1.5:6380", Version: "1.4.0", Since: page.Time(f.since.Add(-72 * time.Hour))}},
		Latency: []page.Latency{{Kind: "acquire", P50: page.Millis(410 * time.Microsecond), P99: page.Millis(2300 * time.Microsecond)}, {Kind: "release", P50: page.Millis(380 * time.Microsecond), P99: page.Millis(1900 * time.Microsecond)}}}
	can := 0
	for i := range f.all {
		m := page.MasterOf(&f.all[i])
		m.Troubles = f.troubles[i]
		o.Masters = append(o.Masters, m)
		if f.all[i].State == quorum.Voting {
			can++
		}
	}
	o.Verdict = page.Verdict{Grants: can >= 2, Text: fmt.Sprintf("%d of 3 masters can vote, 2 are needed", can)}
	o.Verdict.Restart = page.Restart{Safe: can == 3, Text: "All masters vote, and nothing is owed to them."}
	if can < 3 {
		o.Verdict.Restart.Text = "What is owed to a master that is away would be forgotten."
	}
	for _, l := range f.locks {
		if l.State == page.Held {
			o.Held++
		}
		o.Waiters += l.Waiters
	}
	for _, c := range f.contended {
		o.Contended = append(o.Contended, *c)
	}
	slices.SortFunc(o.Contended, func(a, b page.Contended) int { return cmp.Compare(b.Refusals, a.Refusals) })
	return o
}

// expire ends what has run out. mu is held.
func (f *fake) expire() {
	for key, l := range f.locks {
		if l.State == page.Held && time.Now().After(time.Time(l.Until)) {
			f.became(key, page.Moment{What: page.WasExpired})
			l.State = page.Free
		}
	}
}

func (f *fake) Locks(_ context.Context, q page.Query) (page.Locks, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expire()
	var keys []string
	for key, l := range f.locks {
		// A path's pattern is Redis's but for slashes.
		matches, err := path.Match(strings.ReplaceAll(q.Pattern, "/", "\x00"), strings.ReplaceAll(key, "/", "\x00"))
		if err != nil {
			return page.Locks{}, fmt.Errorf("%q is no pattern: %w", q.Pattern, page.ErrBadAsking)
		}
		if l.State == page.Held && (q.Pattern == "" || matches) && q.DB <= 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	list := page.Locks{Total: len(keys)}
	for _, key := range keys {
		if key <= q.After && q.After != "" {
			continue
		}
		if len(list.Locks) == q.Count {
			list.Next = string(list.Locks[q.Count-1].Key)
			break
		}
		list.Locks = append(list.Locks, *f.seen(key))
	}
	return list, nil
}

// seen is a lock as it is told of. mu is held.
func (f *fake) seen(key string) *page.Lock {
	l := *f.locks[key]
	l.Votes = slices.Clone(l.Votes)
	l.Left = page.Millis(time.Until(time.Time(l.Until)))
	return &l
}

func (f *fake) Lock(_ context.Context, db int, key string) (page.Lock, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expire()
	if f.locks[key] == nil || db != 0 {
		return page.Lock{}, page.ErrNotThere
	}
	return *f.seen(key), nil
}

func (f *fake) Events(after uint64) ([]page.Event, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.events[min(int(after), len(f.events)):]), f.more
}

func (f *fake) OrdersAllowed() bool { return f.allowed }

func (f *fake) Order(_ context.Context, who page.Who, o page.Order) (string, error) {
	f.mu.Lock()
	f.given = append(f.given, strings.TrimSpace(fmt.Sprintf("%s %s%s %s: %s", o.Order, o.Master, o.Key, o.Holder, o.Reason)))
	l := f.locks[o.Key]
	f.mu.Unlock()
	master := slices.IndexFunc(f.all, func(m quorum.MasterStatus) bool { return m.Name == o.Master })
	switch o.Order {
	case page.FreeLock:
		if l == nil || l.Holder != o.Holder {
			return "", fmt.Errorf("somebody else holds it by now: %w", page.ErrNotNow)
		}
		f.end(o.Key, page.WasForced, "an operator", o.Reason)
		return "The lock is freed on 3 of 3 masters.", nil
	case page.DrainMaster:
		if f.Overview().Verdict.Grants && !f.Overview().Verdict.Restart.Safe && !o.Force {
			return "", fmt.Errorf("too few masters would be left for a quorum: %w", page.ErrNotNow)
		}
		f.becomes(master, quorum.Drained, "")
		return "Master " + o.Master + " is drained.", nil
	case page.ResumeMaster, page.AdmitMaster:
		f.becomes(master, quorum.Voting, "")
		return "Master " + o.Master + " votes.", nil
	}
	return "", page.ErrBadAsking
}
