package audit

import (
	"fmt"
	"time"
)

// Lines that are alike, which are those of the same address about the same thing, are bounded: of
// many at once the first burst are written, and then one in each interval. Of those that were left
// out the next one tells how many they were, or a line of its own once there were none for a while.
//
// What is Open is bounded in all besides, as it can come from any number of addresses. Any other,
// an order that was carried out and that not everybody may give, is alike only if the same user says
// the same of the same key, database or master.
const (
	burst    = 10
	interval = time.Second

	// allBurst and allInterval are those of all that is Open: some 100 MB a day while nobody who
	// attacks ever rests.
	allBurst    = 100
	allInterval = time.Second / 3

	// maxAlike is how many sorts of lines are told apart. More of what is Open share one bound.
	maxAlike = 1024
)

// bucket lets through as many lines as it has room for; it fills with time.
type bucket struct {
	level float64 // lines that may still be written, when it was looked at last
	at    time.Time
}

func (b *bucket) fill(now time.Time, most float64, every time.Duration) {
	b.level = min(b.level+float64(now.Sub(b.at))/float64(every), most)
	b.at = now
}

// alike is one sort of lines.
type alike struct {
	bucket
	omitted uint64
	like    Entry // what is told of them
}

// sort is what lines are alike in.
type sort struct {
	event                        Event
	source, command, why, detail string
}

// others is the sort of all that is Open, once there are too many to tell them apart.
var others = sort{source: "others"}

// sortOf is narrow for what is Open, where nobody is to have more bounds by asking for more things.
func sortOf(e *Entry) sort {
	switch {
	case !e.Open:
		return sort{e.Event, e.Source, e.Command, "", fmt.Sprintf("%q %q %q %d %q", e.User, e.Args, e.Master, e.DB, e.Key)}
	case e.Event == Denial, e.Outcome != Done:
		return sort{event: e.Event, source: e.Source, why: e.Why}
	}
	return sort{event: e.Event, source: e.Source, command: e.Command}
}

// bounds are all sorts of which there was a line lately.
type bounds struct {
	all   bucket
	sorts map[sort]*alike
}

// of is the sort of an entry; nil if it has none and is written in any case.
func (b *bounds) of(e *Entry, now time.Time) *alike {
	s := sortOf(e)
	a := b.sorts[s]
	if a == nil && len(b.sorts) >= maxAlike {
		if !e.Open {
			return nil
		}
		s = others
		a = b.sorts[s]
	}
	if a == nil {
		if b.sorts == nil {
			b.sorts = make(map[sort]*alike)
			b.all = bucket{allBurst, now}
		}
		a = &alike{bucket: bucket{burst, now}, like: Entry{Event: omitted, Door: e.Door, From: s.source, Command: s.command, Why: s.why}}
		b.sorts[s] = a
	}
	return a
}

// lets tells that an entry of that sort is written, and counts it if not.
func (b *bounds) lets(a *alike, e *Entry, now time.Time) bool {
	a.fill(now, burst, interval)
	b.all.fill(now, allBurst, allInterval)
	if a.level < 1 || e.Open && b.all.level < 1 {
		a.omitted++
		return false
	}
	a.level--
	if e.Open {
		b.all.level--
	}
	return true
}

// rested gives what there is to tell of sorts of which there was no line for a while, which are
// forgotten; of all of them if it is the end.
func (b *bounds) rested(now time.Time, end bool) (list []*alike) {
	for s, a := range b.sorts {
		a.fill(now, burst, interval)
		if a.level < burst && !end {
			continue
		}
		if a.omitted > 0 {
			b.all.fill(now, allBurst, allInterval)
			if b.all.level < 1 && !end {
				continue // the next time
			}
			b.all.level--
			list = append(list, a)
		}
		delete(b.sorts, s)
	}
	return list
}
