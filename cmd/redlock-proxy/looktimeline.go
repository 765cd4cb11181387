package main

import (
	"slices"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/proxy/page"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// timeline tells what became of locks, as far as that is remembered.
type timeline struct {
	seen    *registry.Registry
	now     time.Duration
	at      time.Time // what now is by the clock on the wall
	masters int
}

func (t timeline) wall(at time.Duration) time.Time { return t.at.Add(at - t.now) }

var moments = map[registry.What]page.What{
	registry.Granted: page.WasGranted, registry.Written: page.WasWritten, registry.Extended: page.WasExtended,
	registry.Refused: page.WasRefused, registry.Failed: page.WasRefused, registry.NotHeld: page.WasRefused,
	registry.Released: page.WasReleased, registry.Undone: page.WasUndone, registry.Deleted: page.WasDeleted, registry.Forced: page.WasForced,
}

// of a lock, the oldest first: of one that is fought for its last attempts, and of any how its
// holder came to it and lost it.
func (t timeline) of(db int, key string) (list []page.Moment) {
	hot, _ := t.seen.Hot(db, key, t.now)
	for i := range hot.Attempts {
		a := &hot.Attempts[i]
		m := t.moment(a.At, a.What, commands.Who(a.By), a.Votes)
		m.Took, m.Reason = page.Micros(a.Took), page.Text(a.Why)
		if a.Times > 1 {
			m.Count = int(a.Times)
		}
		if a.What == registry.NotHeld && a.Why == "" {
			m.Reason = "it was to free or to extend its lock, and had none"
		}
		list = append(list, m)
	}
	slices.Reverse(list)
	if h, ok := t.seen.Last(db, key); ok {
		list = append(t.beginning(&h, list), append(list, t.end(&h, list)...)...)
	}
	for i := range list {
		if list[i].What == page.WasForced {
			list[i].Reason = t.order(db, key, time.Time(list[i].At))
		}
	}
	slices.SortStableFunc(list, func(a, b page.Moment) int { return time.Time(a.At).Compare(time.Time(b.At)) })
	return list
}

func (t timeline) moment(at time.Duration, what registry.What, by string, votes quorum.Votes) page.Moment {
	return page.Moment{At: page.Time(t.wall(at)), What: moments[what], By: page.Text(by), Votes: votesOf(votes, t.masters)}
}

// beginning is how the holder came to the lock, unless the attempts tell it. Where somebody else
// has ended that, who it was is not known any more.
func (t timeline) beginning(h *registry.Holding, attempts []page.Moment) (list []page.Moment) {
	if len(attempts) > 0 && !t.wall(h.Since).Before(time.Time(attempts[0].At)) {
		return nil
	}
	by, votes, what := commands.Who(&h.By), h.Votes, registry.Granted
	switch h.What {
	case registry.Deleted, registry.Forced:
		by, votes = "", 0
	case registry.Released, registry.Undone:
		votes = 0 // they are those of its end
	case registry.Written:
		what = h.What
	}
	if h.Extensions > 0 { // they are those of the last one
		votes = 0
	}
	if h.What != registry.Extended { // else he took it where that was not seen
		list = append(list, t.moment(h.Since, what, by, votes))
	}
	extended := func(m page.Moment) bool { return m.What == page.WasExtended }
	if h.Extensions > 0 && !slices.ContainsFunc(attempts, extended) {
		m := t.moment(h.Since, registry.Extended, by, 0)
		m.Count, m.Reason = h.Extensions, "since then, when is not kept of a lock while nobody else wants it"
		list = append(list, m)
	}
	return list
}

// end is how the lock came to its end, if it has and the attempts do not tell it.
func (t timeline) end(h *registry.Holding, attempts []page.Moment) []page.Moment {
	by := commands.Who(&h.By)
	switch {
	case h.What.Ends() && (len(attempts) == 0 || t.wall(h.Until).Before(time.Time(attempts[0].At))):
		return []page.Moment{t.moment(h.Until, h.What, by, h.Votes)}
	case !h.What.Ends() && h.Ended(t.now):
		return []page.Moment{{At: page.Time(t.wall(h.Until)), What: page.WasExpired, By: page.Text(by)}}
	}
	return nil
}

// order is what an operator has said of a lock that he freed, and for what reason.
func (t timeline) order(db int, key string, at time.Time) page.Text {
	events, _ := t.seen.Events.After(0, registry.MaxEvents)
	for i := range events {
		e := &events[i]
		if e.Lock && e.DB == db && e.About == key && !t.wall(e.At).Before(at) {
			return page.Text(e.Text)
		}
	}
	return ""
}

func votesOf(v quorum.Votes, masters int) []page.Vote {
	if v == 0 {
		return nil
	}
	list := make([]page.Vote, masters)
	for i := range list {
		if list[i] = page.Pending; v.Of(i) != 0 {
			list[i] = page.Vote(v.Of(i).String())
		}
	}
	return list
}
