package page

import (
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// frames makes the overview, encoded, which all who look share: of those who ask within a while the
// first has it made. So a hundred viewers cost what one does.
type frames struct {
	source Source
	demo   bool

	mu     sync.Mutex // guards what follows, and is held while one is made
	latest []byte
	proxy  string
	newest uint64 // event that there was
	made   time.Time
}

// fresh is for how long an overview is new enough. It is somewhat less than the second after which
// a stream asks again, so that who looks alone gets a new one each time.
const fresh = 900 * time.Millisecond

// latestEvents are in an overview.
const latestEvents = 20

// overview is encoded in JSON, and nobody's to change. With it comes the ID of the proxy that it is of.
func (f *frames) overview() (body []byte, proxy string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); f.latest == nil || now.Sub(f.made) >= fresh {
		f.make(now)
	}
	return f.latest, f.proxy
}

// make makes one. mu is held.
func (f *frames) make(now time.Time) {
	o := f.source.Overview()
	o.At = Time(now)
	o.Orders = f.source.OrdersAllowed()
	o.Demo = f.demo
	events, _ := f.source.Events(max(f.newest, latestEvents) - latestEvents)
	o.Events = list(events[max(len(events)-latestEvents, 0):])
	if len(events) > 0 {
		f.newest = events[len(events)-1].Number
	}
	o.Proxies, o.Latency = list(o.Proxies), list(o.Latency)
	o.Masters = slices.Clone(list(o.Masters))
	for i := range o.Masters {
		o.Masters[i].Troubles = list(o.Masters[i].Troubles)
	}
	o.Contended = slices.Clone(list(o.Contended[:min(len(o.Contended), MaxContended)]))
	for i := range o.Contended {
		cut(&o.Contended[i].Key, &o.Contended[i].KeyBytes)
	}
	body, err := json.Marshal(o)
	if err != nil {
		panic(err) // of our own types there is none that cannot be encoded
	}
	f.latest, f.proxy, f.made = body, o.Proxy.ID, now
}

// list is one in JSON, too, if there is nothing on it.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
