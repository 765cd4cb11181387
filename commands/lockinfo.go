package commands

import (
	"fmt"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// unknownHolder is what is said of a lock that no proxy knows of: it was taken by another program,
// or so long ago that it was forgotten.
const unknownHolder = "held, by whom is not known here"

// lockInfo is LOCK INFO: what the masters hold of a key by now, and what is known of who holds it.
func (s *Session) lockInfo(c *Command, args []string) Action {
	key := strings.Clone(args[2])
	// It continues, as whoever brings the last answer is not to wait for other proxies.
	return Action{Requests: askContents(key, mostContent), Render: informed{d: s.d, db: s.seen.DB, keys: []string{key}}, Continues: true}
}

// informed tells of keys, of which it has the results of askContents.
type informed struct {
	d    *Dialect
	db   int
	keys []string

	// Of LOCK LIST: the cursor, what is told of the keys so far, and those that follow.
	page *Reply
	told []Reply
	more []string
}

// Slow tells that other proxies are to be asked, or that there is much to look at.
func (n informed) Slow(results []quorum.Result) bool {
	if n.page != nil {
		return true
	}
	k := stateOf(results)
	_, known := n.d.holder(n.db, n.keys[0], k.signs(), k.ends())
	return k.state == heldState && (!known || bytesOf(k.value.parts) > mostQuick)
}

func (informed) Forgo() {}

func (n informed) Render(results []quorum.Result) (Reply, Action) {
	locks := n.locks(results)
	if n.page == nil {
		return locks[0].reply(n.d), Action{}
	}
	for i := range locks {
		if locks[i].state != freeState { // it was freed meanwhile
			n.told = append(n.told, locks[i].reply(n.d))
		}
	}
	if len(n.more) > 0 {
		return Reply{}, n.next()
	}
	return Array(*n.page, Array(n.told...)), Action{}
}

// mostQuick is how many bytes of a value are looked at while others wait.
const mostQuick = 4 << 10

// locksAtOnce is how many keys the masters are asked for at once, so that there is room for others.
const locksAtOnce = 8

// next asks for the next keys.
func (n informed) next() Action {
	m := min(len(n.more), locksAtOnce)
	n.keys, n.more = n.more[:m], n.more[m:]
	var requests []quorum.Request
	for _, key := range n.keys {
		requests = append(requests, askContents(key, mostOfEach)...)
	}
	return Action{Requests: requests, Render: n}
}

// locks are what is known of the keys, be it by other proxies.
func (n informed) locks(results []quorum.Result) []lock {
	locks, now := make([]lock, len(n.keys)), n.d.lookout.Clock()
	var ask []askedKey
	var places []int
	for i, key := range n.keys {
		l := &locks[i]
		*l = lock{db: n.db, key: key, at: now, lockState: stateOf(results[2*i : 2*i+2])}
		if l.state != heldState {
			continue
		}
		signs := l.signs()
		if h, known := n.d.holder(n.db, key, signs, l.ends()); known {
			l.holder = &h
		} else if len(signs) > 0 {
			ask = append(ask, askedKey{DB: n.db, Key: []byte(key), Signs: signs, Left: l.left})
			places = append(places, i)
		}
	}
	for len(ask) > 0 {
		m := fitting(ask)
		found := make([]*holder, m)
		n.d.inquire(ask[:m], found)
		for j, h := range found {
			locks[places[j]].holder = h
		}
		ask, places = ask[m:], places[m:]
	}
	return locks
}

// lock is what is told of one key.
type lock struct {
	db  int
	key string
	at  time.Duration // when it was so: other proxies may have been waited for since
	lockState
	holder *holder // nil where nobody knows
}

// reply is a map of texts and numbers, with the same fields whatever is known, so that whoever
// reads it by a program finds them.
func (l *lock) reply(d *Dialect) Reply {
	f := fieldList{}
	f.text("key", l.key)
	f.number("database", int64(l.db))
	f.text("state", l.state)
	f.text("why", l.why)
	f.text("type", l.value.typ)
	f.text("holder", l.fingerprint())
	h := l.holder
	if h == nil {
		h = &holder{}
	}
	f.text("held-by", l.heldBy())
	f.text("last-known-by", lastKnown(d.lookout.Seen(), l.db, l.key))
	f.number("client-id", h.By.ID)
	f.text("client-addr", h.By.Addr)
	f.text("client-name", h.By.Name)
	f.text("client-library", h.By.Library)
	f.text("client-user", h.By.User)
	f.text("proxy", h.Proxy)
	since, now := "", d.lookout.Clock()
	if l.holder != nil {
		since = stamp(d.lookout.Wall(l.at - time.Duration(h.ForMS)*time.Millisecond))
	}
	f.text("since", since)
	f.number("held-ms", h.ForMS)
	left, until := int64(0), ""
	if l.state == heldState {
		if left = l.left; left >= 0 {
			until = stamp(d.lookout.Wall(l.at + time.Duration(left)*time.Millisecond))
		}
	}
	f.text("until", until)
	f.number("left-ms", left)
	f.number("extensions", int64(h.Extensions))
	f.number("refusals", int64(h.Refusals))
	f.text("granted-by", strings.Join(h.Granted, ", "))
	names := d.lookout.Masters()
	f.add("masters", Map(l.onMasters(names)...))
	hot, _ := d.lookout.Seen().Hot(l.db, l.key, now)
	f.number("waiters", int64(len(hot.Wanting)))
	f.number("in-line", int64(d.lookout.InLine(l.db, l.key)))
	f.add("wanted-by", Array(wantedBy(hot.Wanting, now)...))
	return Map(f...)
}

func (l *lock) heldBy() string {
	switch {
	case l.state != heldState:
		return ""
	case l.holder == nil:
		return unknownHolder
	}
	if l.holder.Written { // a script may have written what does not make its caller the holder
		return "last written by " + Who(&l.holder.By)
	}
	return Who(&l.holder.By)
}

// Who is a client in one line.
func Who(o *registry.Origin) string {
	text := fmt.Sprintf("client %d at %s", o.ID, o.Addr)
	if o.ID == 0 {
		text = strings.TrimSuffix("operator "+o.User, " ") + " at " + o.Addr
	}
	if o.Name != "" {
		text += ", named " + o.Name
	}
	if o.Library != "" {
		text += ", by " + o.Library
	}
	return text
}

func wantedBy(list []registry.Wanting, now time.Duration) (replies []Reply) {
	for i := range list {
		w, f := &list[i], fieldList{}
		f.text("client", Who(&w.By))
		f.number("client-id", w.By.ID)
		f.number("times", int64(w.Times))
		f.number("every-ms", w.Every().Milliseconds())
		f.number("last-ms", (now - w.Last).Milliseconds())
		replies = append(replies, Map(f...))
	}
	return replies
}

// fieldList is the names and values of a map.
type fieldList []Reply

func (f *fieldList) add(name string, value Reply) { *f = append(*f, Bulk(name), value) }
func (f *fieldList) text(name, value string)      { f.add(name, Bulk(value)) }
func (f *fieldList) number(name string, n int64)  { f.add(name, Integer(n)) }
func stamp(t time.Time) string                    { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
