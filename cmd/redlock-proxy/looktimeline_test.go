package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/proxy/page"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

var (
	joe      = &registry.Origin{ID: 7, Addr: "a:1", Name: "joe"}
	eve      = &registry.Origin{ID: 8, Addr: "b:1"}
	operator = &registry.Origin{Addr: "c:1", User: "default"}
)

// told is a timeline as of a second, a moment a line: the second, what, by whom, how often, votes.
func told(seen *registry.Registry, now int, key string) string {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	t := timeline{seen, time.Duration(now) * time.Second, start.Add(time.Duration(now) * time.Second), 3}
	var lines []string
	for _, m := range t.of(0, key) {
		line := fmt.Sprint(time.Time(m.At).Sub(start).Seconds(), " ", m.What)
		if m.Count != 0 {
			line += fmt.Sprint(" ×", m.Count)
		}
		if m.By != "" {
			line += " " + string(m.By)
		}
		for _, v := range m.Votes {
			line += " " + string(v)
		}
		if m.Reason != "" && m.What != page.WasExtended {
			line += ": " + string(m.Reason)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func votes(list ...quorum.Vote) (v quorum.Votes) {
	for i, vote := range list {
		v |= quorum.Votes(vote) << (quorum.VoteBits * i)
	}
	return v
}

// happens notes what became of key k at a second.
func happens(r *registry.Registry, at int, what registry.What, by *registry.Origin, v quorum.Votes) {
	r.Note(&registry.Act{What: what, Key: "k", Signs: registry.SignedBy("token"), TTL: 10 * time.Second, At: time.Duration(at) * time.Second, By: by, Votes: v})
}

func TestTimelineTellsHowALockWasTakenAndLost(t *testing.T) {
	const yes, no = quorum.Granted, quorum.Refused
	for name, c := range map[string]struct {
		life func(r *registry.Registry)
		want string
	}{
		"held": {func(r *registry.Registry) { happens(r, 1, registry.Granted, joe, votes(yes, 0, yes)) },
			"1 granted client 7 at a:1, named joe granted pending granted"},
		"expired": {func(r *registry.Registry) {
			happens(r, 1, registry.Granted, joe, votes(yes, yes, yes))
			happens(r, 3, registry.Extended, joe, votes(yes, yes, 0)) // these votes are kept
		},
			"1 granted client 7 at a:1, named joe\n1 extended ×1 client 7 at a:1, named joe\n13 expired client 7 at a:1, named joe"},
		"released": {func(r *registry.Registry) {
			happens(r, 1, registry.Granted, joe, votes(yes, yes, yes))
			happens(r, 4, registry.Released, joe, votes(yes, yes, 0))
		}, "1 granted client 7 at a:1, named joe\n4 released client 7 at a:1, named joe granted granted pending"},
		// By whom it was held is not known any more, and not told to be who has ended that.
		"deleted": {func(r *registry.Registry) {
			happens(r, 1, registry.Granted, joe, votes(yes, yes, yes))
			happens(r, 2, registry.Extended, joe, 0)
			happens(r, 4, registry.Deleted, eve, votes(yes, yes, yes))
		}, "1 granted\n1 extended ×1\n4 deleted client 8 at b:1 granted granted granted"},
		"forced": {func(r *registry.Registry) {
			happens(r, 1, registry.Granted, joe, 0)
			happens(r, 4, registry.Forced, operator, 0)
			r.Events.Tell(registry.Event{At: 3 * time.Second, Kind: "order", About: "k", Lock: true, Text: "an earlier one"})
			r.Events.Tell(registry.Event{At: 4 * time.Second, Kind: "order", About: "k", Lock: true, DB: 1, Text: "of another database"})
			r.Events.Tell(registry.Event{At: 4 * time.Second, Kind: "order", About: "k", Lock: true, Text: "LOCK FORCE: OK, for: it hangs"})
		}, "1 granted\n4 forced operator default at c:1: LOCK FORCE: OK, for: it hangs"},
		"fought for": {func(r *registry.Registry) {
			happens(r, 1, registry.Granted, joe, votes(yes, yes, yes))
			happens(r, 2, registry.Refused, eve, votes(no, no, 0))
			happens(r, 3, registry.Refused, eve, votes(no, 0, no))
			happens(r, 4, registry.Extended, joe, votes(yes, yes, yes))
			happens(r, 5, registry.Released, joe, votes(yes, yes, yes))
			happens(r, 6, registry.Granted, eve, votes(yes, yes, yes))
			happens(r, 7, registry.NotHeld, joe, votes(no, no, no))
		}, "3 refused ×2 client 8 at b:1 refused pending refused\n4 extended client 7 at a:1, named joe granted granted granted\n5 released client 7 at a:1, named joe granted granted granted\n" +
			"6 granted client 8 at b:1 granted granted granted\n7 refused client 7 at a:1, named joe refused refused refused: it was to free or to extend its lock, and had none\n16 expired client 8 at b:1"},
		// The latest line is not always what came to an end last.
		"expired while it was asked for": {func(r *registry.Registry) {
			happens(r, 1, registry.Granted, joe, 0)
			happens(r, 2, registry.Refused, eve, 0)
			r.Note(&registry.Act{What: registry.Failed, Key: "k", At: 15 * time.Second, By: eve, Why: "NOQUORUM"})
		}, "1 granted client 7 at a:1, named joe\n2 refused client 8 at b:1\n11 expired client 7 at a:1, named joe\n15 refused client 8 at b:1: NOQUORUM"},
		"extended before it was fought for": {func(r *registry.Registry) {
			happens(r, 1, registry.Granted, joe, 0)
			happens(r, 2, registry.Extended, joe, 0)
			happens(r, 4, registry.Refused, eve, 0)
		}, "1 granted client 7 at a:1, named joe\n1 extended ×1 client 7 at a:1, named joe\n4 refused client 8 at b:1\n12 expired client 7 at a:1, named joe"},
		"extended by who took it elsewhere": {func(r *registry.Registry) {
			happens(r, 1, registry.Extended, joe, 0)
		}, "1 extended ×1 client 7 at a:1, named joe\n11 expired client 7 at a:1, named joe"},
		// Who had it in between took it through another proxy.
		"released before it was fought for": {func(r *registry.Registry) {
			happens(r, 1, registry.Granted, joe, 0)
			happens(r, 2, registry.Released, joe, 0)
			happens(r, 4, registry.Refused, eve, 0)
		}, "1 granted client 7 at a:1, named joe\n2 released client 7 at a:1, named joe\n4 refused client 8 at b:1"},
		"nothing": {func(*registry.Registry) {}, ""},
	} {
		r := registry.New(64)
		c.life(r)
		now := 60
		if name == "held" {
			now = 5
		}
		if got := told(r, now, "k"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestOrderAboutALongKeyIsToldOf: a part of its name is another key.
func TestOrderAboutALongKeyIsToldOf(t *testing.T) {
	r, key := registry.New(64), strings.Repeat("k", page.MaxKey)
	r.Note(&registry.Act{What: registry.Granted, Key: key, TTL: time.Minute, By: joe})
	r.Note(&registry.Act{What: registry.Forced, Key: key, At: time.Second, By: operator})
	r.Events.Tell(registry.Event{At: time.Second, Kind: "order", About: key, Lock: true, Text: "LOCK FORCE: OK, for: it hangs"})
	if got := told(r, 2, key); !strings.HasSuffix(got, "it hangs") {
		t.Error(got)
	}
}

func TestEventIsALineThatNamesWhatItIsAbout(t *testing.T) {
	wall := func(at time.Duration) time.Time { return time.Unix(100, 0).Add(at) }
	for _, c := range []struct {
		event  registry.Event
		text   page.Text
		master string
		lock   bool
	}{
		{registry.Event{Kind: "master", About: "m1", Text: "down: no answer in time", Trouble: true}, "m1 down: no answer in time", "m1", false},
		{registry.Event{Kind: "quorum", Text: "no quorum of masters can vote", Trouble: true}, "no quorum of masters can vote", "", false},
		{registry.Event{Kind: "order", About: "m1", Text: "LOCK DRAIN: OK", By: "a:1, user default"}, "m1 LOCK DRAIN: OK, by a:1, user default", "m1", false},
		{registry.Event{Kind: "order", About: "m\xff", Text: "LOCK FORCE: OK", Lock: true, DB: 3}, "LOCK FORCE: OK", "", true},
	} {
		c.event.Number, c.event.At = 9, time.Second
		got := eventOf(&c.event, wall)
		if got.Text != c.text || got.Master != c.master || (got.Lock != nil) != c.lock || got.Number != 9 || got.Kind != c.event.Kind || got.Trouble != c.event.Trouble || !time.Time(got.At).Equal(time.Unix(101, 0)) {
			t.Errorf("%+v: %+v", c.event, got)
		}
		if c.lock && (got.Lock.DB != 3 || got.Lock.Key != "m\xff") {
			t.Errorf("%+v", got.Lock)
		}
	}
}
