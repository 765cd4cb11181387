package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/proxy"
	"redlock-proxy/proxy/page"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// Lock implements page.Source.
func (s *sight) Lock(ctx context.Context, db int, key string) (page.Lock, error) {
	reply, err := s.server.Ask(ctx, proxy.Operator{}, db, "LOCK", "INFO", key)
	if err == nil {
		err = refusalOf(reply)
	}
	if err != nil {
		return page.Lock{}, err
	}
	l := lockOf(reply)
	l.Timeline = s.timeline(db, key)
	if l.State == page.Free && len(l.Timeline) == 0 {
		return page.Lock{}, fmt.Errorf("%w: nobody holds it, and of nobody who did anything is known here", page.ErrNotThere)
	}
	return l, nil
}

// lockOf reads what LOCK INFO tells.
func lockOf(r commands.Reply) page.Lock {
	text := func(name string) string { return fieldOf(r, name).Str }
	number := func(name string) int64 { return fieldOf(r, name).Int }
	l := page.Lock{
		DB: int(number("database")), Key: page.Text(text("key")), Type: text("type"), State: page.State(text("state")),
		Holder: text("holder"), Proxy: text("proxy"), Since: timeOf(text("since")), Until: timeOf(text("until")),
		Extensions: int(number("extensions")), Refusals: uint64(number("refusals")), Waiters: int(number("waiters")),
	}
	if left := number("left-ms"); left > 0 {
		l.Left = page.Millis(time.Duration(left) * time.Millisecond)
		l.TTL = page.Millis(time.Duration(left+number("held-ms")) * time.Millisecond)
	}
	if text("client-addr") != "" {
		l.Client = &page.Client{
			ID: number("client-id"), Address: page.Text(text("client-addr")), Name: page.Text(text("client-name")),
			Library: page.Text(text("client-library")), User: page.Text(text("client-user")),
		}
	}
	on := fieldOf(r, "masters").Elems
	for i := 1; i < len(on); i += 2 {
		l.Votes = append(l.Votes, voteByWord(on[i].Str))
	}
	return l
}

// voteByWord is what a master has of a lock, as the vote for who holds it that this amounts to.
func voteByWord(word string) page.Vote {
	switch {
	case word == "holds it":
		return page.Granted
	case word == "no answer", strings.HasPrefix(word, "error"):
		return page.VoteUnknown
	}
	return page.Refused
}

func fieldOf(r commands.Reply, name string) commands.Reply {
	for i := 0; i+1 < len(r.Elems); i += 2 {
		if r.Elems[i].Str == name {
			return r.Elems[i+1]
		}
	}
	return commands.Reply{}
}

func timeOf(stamp string) page.Time {
	t, _ := time.Parse(time.RFC3339, stamp) // "" is no time
	return page.Time(t)
}

var moments = map[registry.What]page.What{
	registry.Granted: page.WasGranted, registry.Written: page.WasWritten, registry.Extended: page.WasExtended,
	registry.Refused: page.WasRefused, registry.Failed: page.WasRefused, registry.NotHeld: page.WasRefused,
	registry.Released: page.WasReleased, registry.Undone: page.WasUndone, registry.Deleted: page.WasDeleted, registry.Forced: page.WasForced,
}

// timeline is what is known of what became of a lock, the oldest first: of one that is fought for
// its last attempts, and of any how its holder came to it and lost it.
func (s *sight) timeline(db int, key string) (list []page.Moment) {
	seen, now, wall := s.server.Seen()
	masters := len(s.engine.Status().Masters)
	hot, _ := seen.Hot(db, key, now)
	for i := range hot.Attempts {
		a := &hot.Attempts[i]
		m := page.Moment{
			At: page.Time(wall(a.At)), What: moments[a.What], By: page.Text(commands.Who(a.By)), Took: page.Micros(a.Took),
			Votes: votesOf(a.Votes, masters), Reason: page.Text(a.Why),
		}
		if a.Times > 1 {
			m.Count = int(a.Times)
		}
		list = append(list, m)
	}
	slices.Reverse(list)
	h, ok := seen.Last(db, key)
	if !ok {
		return list
	}
	by := page.Text(commands.Who(&h.By))
	if began := page.Time(wall(h.Since)); len(list) == 0 || time.Time(began).Before(time.Time(list[0].At)) {
		first := []page.Moment{{At: began, What: page.WasGranted, By: by, Votes: votesOf(h.Votes, masters)}}
		if h.What.Ends() { // who held it is not known any more, and who ended that is
			first = nil
		}
		if h.Extensions > 0 && len(list) == 0 {
			first = append(first, page.Moment{At: began, What: page.WasExtended, By: by, Count: h.Extensions})
		}
		list = append(first, list...)
	}
	switch {
	case h.What.Ends() && len(hot.Attempts) == 0:
		list = append(list, page.Moment{At: page.Time(wall(h.Until)), What: moments[h.What], By: by, Votes: votesOf(h.Votes, masters)})
	case !h.What.Ends() && h.Ended(now):
		list = append(list, page.Moment{At: page.Time(wall(h.Until)), What: page.WasExpired, By: by})
	}
	return list
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
