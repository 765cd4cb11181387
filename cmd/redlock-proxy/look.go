package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/commands"
	"redlock-proxy/proxy"
	"redlock-proxy/proxy/page"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/engine"
	"redlock-proxy/quorum/registry"
)

// sight is what the page is shown of this process.
type sight struct {
	engine *engine.Engine
	server *proxy.Server
	broken []*embedded // masters that can be, in a demo
	log    hclog.Logger

	mu      sync.Mutex // guards what follows
	took    latencies
	held    int
	counted time.Time // when held was
	proxies []page.Proxy
	asked   time.Time // when the other proxies were
	asking  bool
	closed  bool
	running sync.WaitGroup // who asks them
}

const (
	// countEvery is how often all that is remembered is gone through, and askEvery how often the
	// other proxies are asked who they are, while somebody looks.
	countEvery = 2 * time.Second
	askEvery   = 10 * time.Second
)

// orderTimeout is how long the masters have for an order.
const orderTimeout = 10 * time.Second

// Overview implements page.Source.
func (s *sight) Overview() page.Overview {
	st := s.engine.Status()
	v := s.server.Verdict(&st)
	me := s.server.Self()
	o := page.Overview{
		Verdict: page.Verdict{Grants: v.Grants, Text: v.Text, Restart: page.Restart{Safe: v.Restart, Text: v.Advice}},
		Proxy:   proxyOf(&me),
	}
	for i := range st.Masters {
		m := page.MasterOf(&st.Masters[i])
		for _, t := range s.server.Troubles(i) {
			m.Troubles = append(m.Troubles, page.Trouble{At: page.Time(t.At), Text: page.Text(t.Text)})
		}
		o.Masters = append(o.Masters, m)
	}
	seen, now, _ := s.server.Seen()
	hottest, waiters := seen.Hottest(page.MaxContended, now)
	o.Waiters = waiters
	for i := range hottest {
		o.Contended = append(o.Contended, contendedOf(seen, &hottest[i]))
	}
	s.lately(&o, seen, now)
	return o
}

// lately adds what is looked for less often than once a second, or taken from the look before.
func (s *sight) lately(o *page.Overview, seen *registry.Registry, now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.counted) >= countEvery {
		s.held, s.counted = seen.Held(now), time.Now()
	}
	if time.Since(s.asked) >= askEvery && !s.asking && !s.closed {
		s.asking = true
		s.running.Go(s.askProxies)
	}
	o.Latency = latencyOf(s.took.since(time.Now(), s.server.Latencies()))
	o.Held, o.Proxies = s.held, s.proxies
}

func (s *sight) askProxies() {
	var list []page.Proxy
	for _, p := range s.server.Colleagues() {
		list = append(list, proxyOf(&p))
	}
	s.mu.Lock()
	s.proxies, s.asked, s.asking = list, time.Now(), false
	s.mu.Unlock()
}

// close returns when nobody asks other proxies any more.
func (s *sight) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.running.Wait()
}

func proxyOf(p *commands.Proxy) page.Proxy {
	return page.Proxy{ID: p.ID, Address: page.Text(p.Address), Version: p.Version, Since: page.Time(p.Since), Clients: p.Clients}
}

func contendedOf(seen *registry.Registry, h *registry.Hot) page.Contended {
	c := page.Contended{DB: h.DB, Key: page.Text(h.Key), Refusals: h.Refusals, Waiters: len(h.Wanting)}
	for i, n := range h.PerSecond {
		c.PerSecond[i] = uint(n)
	}
	if last, ok := seen.Last(h.DB, h.Key); ok && !last.What.Ends() {
		c.LastKnownBy = page.Text(briefly(&last.By))
	}
	return c
}

// briefly is a client by what one knows it by.
func briefly(o *registry.Origin) string {
	if o.Name == "" {
		return commands.Who(o)
	}
	return o.Name + " (" + o.Addr + ")"
}

// Events implements page.Source.
func (s *sight) Events(after uint64) ([]page.Event, <-chan struct{}) {
	seen, _, wall := s.server.Seen()
	events, more := seen.Events.After(after, registry.MaxEvents)
	list := make([]page.Event, len(events))
	for i := range events {
		list[i] = eventOf(&events[i], wall)
	}
	return list, more
}

// eventOf is an event as a line by itself, of which the page shows no more than that.
func eventOf(e *registry.Event, wall func(time.Duration) time.Time) page.Event {
	text := e.Text
	if e.By != "" {
		text += ", by " + e.By
	}
	out := page.Event{Number: e.Number, At: page.Time(wall(e.At)), Kind: e.Kind, Trouble: e.Trouble}
	switch {
	case e.Lock:
		out.Lock = &page.Place{DB: e.DB, Key: page.Text(e.About)}
	case e.About != "": // a master
		out.Master, text = e.About, e.About+" "+text
	}
	out.Text = page.Text(text)
	return out
}

// OrdersAllowed implements page.Source.
func (s *sight) OrdersAllowed() bool { return s.server.SomebodyOperates() }

// orderRights are the commands that do what orders do.
var orderRights = map[string]string{page.DrainMaster: "lock|drain", page.ResumeMaster: "lock|resume", page.AdmitMaster: "lock|admit"}

// MayOrder implements page.Source. To break a demo's masters takes what freeing a lock does.
func (s *sight) MayOrder(who page.Who, order string) bool {
	return s.server.MayOnAll(who.User, cmp.Or(orderRights[order], "lock|force"))
}

// Looking implements page.Source.
func (s *sight) Looking(who page.Who) (still func() bool) { return s.server.Looking(who.User) }

// Forbidden implements page.Source.
func (s *sight) Forbidden(who page.Who, why string) {
	s.server.Forbidden(proxy.Operator{User: who.User, From: who.From}, why)
}

// Order implements page.Source.
func (s *sight) Order(ctx context.Context, who page.Who, o page.Order) (string, error) {
	// It is carried out, and told of, also where who gave it goes away meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), orderTimeout)
	defer cancel()
	if o.Demo() {
		said, err := breakMaster(s.broken, &o)
		s.log.Warn("the demo's viewer has given an order", "order", o.Order, "about", o.Master, "from", who.From, "error", err)
		return said, err
	}
	if o.Order == page.FreeLock && (o.DB < 0 || o.DB >= quorum.Databases) {
		return "", notUsed(o.DB)
	}
	by := proxy.Operator{User: who.User, From: who.From}
	var reply commands.Reply
	var err error
	switch o.Order {
	case page.FreeLock:
		reply, err = s.server.Free(ctx, by, o.DB, o.Key, o.Holder, o.Reason)
	case page.DrainMaster:
		reply = s.server.Order(by, "LOCK DRAIN", o.Master, o.Reason, o.Force)
	case page.ResumeMaster:
		reply = s.server.Order(by, "LOCK RESUME", o.Master, o.Reason, false)
	case page.AdmitMaster:
		reply = s.server.Order(by, "LOCK ADMIT", o.Master, o.Reason, false)
	}
	if err == nil {
		err = refusalOf(reply)
	}
	if err != nil {
		return "", err
	}
	return saidOf(reply), nil
}

// saidOf is what an order has come to, in a sentence.
func saidOf(r commands.Reply) string {
	switch {
	case r.Kind != commands.IntegerReply:
		return r.Str
	case r.Int == 0:
		return "nobody held it"
	}
	return "it is freed, its holder does not know of it, and may go on as if it held the lock"
}

// refusalOf is an error reply as the page tells it, nil of any other.
func refusalOf(r commands.Reply) error {
	if r.Kind != commands.ErrorReply {
		return nil
	}
	word, text, _ := strings.Cut(r.Str, " ")
	kind := page.ErrNotNow
	if word == "NOQUORUM" {
		kind, text = page.ErrNoQuorum, r.Str
	}
	return fmt.Errorf("%w: %s", kind, text)
}
