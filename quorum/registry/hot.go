package registry

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"redlock-proxy/quorum"
)

// A key is fought for when somebody was refused it. Of those that are fought for most, as many as
// there is room for, more is kept than of others.

const (
	// Seconds is for how many of them refusals are told by the second.
	Seconds     = 60
	maxWanting  = 16
	maxAttempts = 32
	maxWhy      = 256 // bytes

	// halfLife is after how long a refusal counts half as much, for which keys are kept.
	halfLife = 30 * time.Second
)

// hot is one key that is fought for.
type hot struct {
	db       int
	key      string
	weight   float64 // refusals and failures, of which older ones count less
	weighed  time.Duration
	refusals uint64 // since it is here

	second    time.Duration // the latest one that perSecond tells of, in seconds
	perSecond [Seconds]uint32

	wanting  []want
	attempts [maxAttempts]Attempt
	made     int // attempts there were
}

type want struct {
	by          *Origin
	first, last time.Duration
	times       uint64
}

// Attempt is one thing that was asked about a key that is fought for. Of several that were told
// the same, one after the other and to one client, it is the last.
type Attempt struct {
	What  What
	At    time.Duration
	Took  time.Duration
	Times uint64
	Votes quorum.Votes
	Why   string
	By    *Origin
}

func (k *hot) weightAt(now time.Duration) float64 {
	w := k.weight
	for past := now - k.weighed; past >= halfLife && w > 0.01; past -= halfLife {
		w /= 2
	}
	return w
}

// weigh counts an attempt that came to nothing.
func (k *hot) weigh(now time.Duration) {
	if halves := (now - k.weighed) / halfLife; halves > 0 {
		k.weight = k.weightAt(now)
		k.weighed += halves * halfLife
	}
	k.weight++
}

func (k *hot) refused(a *Act) {
	k.refusals++
	k.turn(a.At)
	k.perSecond[k.second%Seconds]++
	k.wants(a)
}

// turn has perSecond tell of the seconds up to now.
func (k *hot) turn(now time.Duration) {
	second := now / time.Second
	for range min(second-k.second, Seconds) {
		k.second++
		k.perSecond[k.second%Seconds] = 0
	}
	k.second = max(k.second, second)
}

// wants notes who was refused.
func (k *hot) wants(a *Act) {
	i := slices.IndexFunc(k.wanting, func(w want) bool { return w.by.ID == a.By.ID })
	switch {
	case i >= 0:
	case len(k.wanting) < maxWanting:
		k.wanting = append(k.wanting, want{first: a.At})
		i = len(k.wanting) - 1
	default:
		i = k.leaves(a.At)
		k.wanting[i] = want{first: a.At}
	}
	w := &k.wanting[i]
	w.by, w.last = a.By, a.At
	w.times++
}

// leaves is which of those that want it is forgotten, where there is room for no more: who wants it
// no longer, else who has come least often, the latest of these. So of most it is known how often
// they come, however many they are.
func (k *hot) leaves(now time.Duration) (least int) {
	for i := range k.wanting {
		w, l := &k.wanting[i], &k.wanting[least]
		switch {
		case !w.wants(now):
			return i
		case w.times < l.times, w.times == l.times && w.last > l.last:
			least = i
		}
	}
	return least
}

func (k *hot) attempted(a *Act) {
	switch a.What {
	case Refused, Failed:
	case NotHeld: // libraries free what they were refused, which says nothing new
		if slices.ContainsFunc(k.wanting, func(w want) bool { return w.by.ID == a.By.ID }) {
			return
		}
	default: // who has it wants it no more
		k.wanting = slices.DeleteFunc(k.wanting, func(w want) bool { return w.by.ID == a.By.ID })
	}
	why := a.Why
	if len(why) > maxWhy {
		why = why[:maxWhy]
	}
	if last := &k.attempts[(k.made+maxAttempts-1)%maxAttempts]; k.made > 0 && last.same(a, why) {
		last.At, last.Took, last.Votes = a.At, a.Took, a.Votes
		last.Times++
		return
	}
	k.attempts[k.made%maxAttempts] = Attempt{
		What: a.What, At: a.At, Took: a.Took, Times: 1, Votes: a.Votes, Why: strings.Clone(why), By: a.By,
	}
	k.made++
}

func (t *Attempt) same(a *Act, why string) bool {
	return t.What == a.What && t.By.ID == a.By.ID && t.Why == why && (a.What == Refused || a.What == Failed)
}

// Hot is what is known of a key that is fought for.
type Hot struct {
	DB        int
	Key       string
	Refusals  uint64          // since it is known
	PerSecond [Seconds]uint32 // the latest last
	Wanting   []Wanting       // who was refused it lately, and has not got it since; the latest first
	Attempts  []Attempt       // the latest first
}

// Wanting is a client that was refused a lock.
type Wanting struct {
	By          Origin
	First, Last time.Duration
	Times       uint64
}

// Every is how often it asks, 0 where it has asked once.
func (w *Wanting) Every() time.Duration {
	if w.Times < 2 {
		return 0
	}
	return (w.Last - w.First) / time.Duration(w.Times-1)
}

// Lately is how many refusals there were in as many seconds as are told.
func (h *Hot) Lately() uint64 { return sum(&h.PerSecond) }

// Hot is what is known of one key, if it is fought for.
func (r *Registry) Hot(db int, key string, now time.Duration) (Hot, bool) {
	h := r.hash(db, key)
	s := r.shard(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.top.find(h)
	if k == nil {
		return Hot{}, false
	}
	return k.view(now), true
}

func sum(perSecond *[Seconds]uint32) (n uint64) {
	for _, in := range perSecond {
		n += uint64(in)
	}
	return n
}

// wants tells whether somebody was refused it lately.
func (w *want) wants(now time.Duration) bool { return now-w.last < Seconds*time.Second }

func (k *hot) waiters(now time.Duration) (n int) {
	for i := range k.wanting {
		if k.wanting[i].wants(now) {
			n++
		}
	}
	return n
}

func (k *hot) view(now time.Duration) Hot {
	k.turn(now)
	v := Hot{DB: k.db, Key: k.key, Refusals: k.refusals}
	for i := range v.PerSecond {
		v.PerSecond[i] = k.perSecond[(k.second+1+time.Duration(i))%Seconds]
	}
	for _, w := range k.wanting {
		if w.wants(now) {
			v.Wanting = append(v.Wanting, Wanting{By: *w.by, First: w.first, Last: w.last, Times: w.times})
		}
	}
	slices.SortFunc(v.Wanting, func(a, b Wanting) int { return cmp.Compare(b.Last, a.Last) })
	for i := range min(k.made, maxAttempts) {
		v.Attempts = append(v.Attempts, k.attempts[(k.made-1-i)%maxAttempts])
	}
	return v
}
