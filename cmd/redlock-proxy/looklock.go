package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/proxy/page"
)

// Lock implements page.Source.
func (s *sight) Lock(ctx context.Context, db int, key string) (page.Lock, error) {
	if seen, _, _ := s.server.Seen(); !slices.Contains(seen.Databases(), db) {
		return page.Lock{}, notUsed(db)
	}
	reply, err := s.ask(ctx, db, "LOCK", "INFO", key)
	if err != nil {
		return page.Lock{}, err
	}
	l := lockOf(reply)
	seen, now, wall := s.server.Seen()
	l.Timeline = timeline{seen, now, wall(now), len(s.engine.Status().Masters)}.of(db, key)
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
		Extensions: int(number("extensions")), Refusals: uint64(number("refusals")), Waiters: max(int(number("waiters")), int(number("in-line"))),
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
	for _, w := range fieldOf(r, "wanted-by").Elems {
		l.Wanted = append(l.Wanted, page.Wanted{
			Client: page.Text(fieldOf(w, "client").Str), Times: uint64(fieldOf(w, "times").Int),
			Every: inMillis(fieldOf(w, "every-ms").Int), Last: inMillis(fieldOf(w, "last-ms").Int),
		})
	}
	on := fieldOf(r, "masters").Elems
	for i := 1; i < len(on); i += 2 {
		l.Votes = append(l.Votes, voteByWord(on[i].Str))
		l.Has = append(l.Has, page.Text(on[i].Str))
	}
	return l
}

// voteByWord is what a master has of a lock, as the vote for who holds it that this amounts to.
func voteByWord(word string) page.Vote {
	switch {
	case word == "holds it":
		return page.Granted
	case word == "no answer", word == "not known", strings.HasPrefix(word, "error"), strings.HasPrefix(word, "a value, it is not known"):
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

func inMillis(n int64) page.Millis { return page.Millis(time.Duration(n) * time.Millisecond) }
