package commands

import (
	"fmt"
	"strings"
	"time"

	"redlock-proxy/quorum/registry"
)

const (
	usualTop    = 10
	mostTop     = 256
	usualEvents = 32
)

// countArg is the number that a subcommand may be given, from 1 to most.
func countArg(args []string, usual, most int) (n int, text string) {
	if len(args) == 2 {
		return usual, ""
	}
	i, ok := parseInt(args[2])
	switch {
	case len(args) > 3:
		return 0, errSyntax
	case !ok:
		return 0, errNotInteger
	case i < 1:
		return 0, errSyntax
	}
	return int(min(i, int64(most))), ""
}

// lockTop is LOCK TOP: the keys that were refused most in the last minute.
func (s *Session) lockTop(c *Command, args []string) Action {
	n, text := countArg(args, usualTop, mostTop)
	if text != "" {
		return refuse(text)
	}
	seen, now := s.d.lookout.Seen(), s.d.lookout.Clock()
	var list []Reply
	shown, all := s.reads(c), n
	if shown != nil {
		all = mostTop
	}
	hottest, _ := seen.Hottest(all, now)
	for _, h := range hottest {
		if len(list) == n || shown != nil && !shown(h.Key) {
			continue
		}
		f := fieldList{}
		f.text("key", h.Key)
		f.number("database", int64(h.DB))
		f.number("refusals-in-a-minute", int64(h.Lately()))
		f.number("refusals", int64(h.Refusals))
		f.number("waiters", int64(len(h.Wanting)))
		f.add("wanted-by", Array(wantedBy(h.Wanting, now)...))
		f.text("last-known-by", lastKnown(seen, h.DB, h.Key))
		f.text("by-second", strings.Trim(fmt.Sprint(h.PerSecond), "[]"))
		list = append(list, Map(f...))
	}
	return Action{Reply: Array(list...)}
}

// lastKnown is who did something to a key last that is known here: its holder, mostly.
func lastKnown(seen *registry.Registry, db int, key string) string {
	h, ok := seen.Last(db, key)
	if !ok {
		return ""
	}
	return h.What.String() + ": " + Who(&h.By)
}

// lockExplain is LOCK EXPLAIN: what was asked about a key lately, and why it was refused.
func (s *Session) lockExplain(c *Command, args []string) Action {
	seen, now := s.d.lookout.Seen(), s.d.lookout.Clock()
	names := s.d.lookout.Masters()
	h, _ := seen.Hot(s.seen.DB, args[2], now)
	f := fieldList{}
	f.text("key", args[2])
	f.number("database", int64(s.seen.DB))
	f.text("summary", summary(&h, now, names))
	f.text("last-known-by", lastKnown(seen, s.seen.DB, args[2]))
	f.number("refusals-in-a-minute", int64(h.Lately()))
	f.number("refusals", int64(h.Refusals))
	f.add("wanted-by", Array(wantedBy(h.Wanting, now)...))
	var attempts []Reply
	for i := range h.Attempts {
		attempts = append(attempts, s.attempt(&h.Attempts[i], now, names))
	}
	f.add("attempts", Array(attempts...))
	return Action{Reply: Map(f...)}
}

func (s *Session) attempt(t *registry.Attempt, now time.Duration, names []string) Reply {
	f := fieldList{}
	f.text("at", stamp(s.d.lookout.Wall(t.At)))
	f.number("ms-ago", (now - t.At).Milliseconds())
	f.text("what", t.What.String())
	f.number("times", int64(t.Times))
	f.text("client", Who(t.By))
	f.number("client-id", t.By.ID)
	f.number("took-us", t.Took.Microseconds())
	f.text("votes", votesText(t.Votes, names))
	f.text("why", attemptWhy(t, names))
	return Map(f...)
}

// attemptWhy says in words why an attempt came to what it did.
func attemptWhy(t *registry.Attempt, names []string) string {
	switch {
	case t.Why != "":
		return t.Why
	case t.What == registry.Refused && t.Votes == 0:
		return "another attempt of the same moment decided it"
	case t.What == registry.Refused:
		return "somebody else has it"
	case t.What == registry.NotHeld:
		return "the client does not hold it"
	}
	return ""
}

func summary(h *registry.Hot, now time.Duration, names []string) string {
	for i := range h.Attempts {
		t := &h.Attempts[i]
		if t.What != registry.Refused && t.What != registry.Failed {
			continue
		}
		text := fmt.Sprintf("%s %s ago to %s, in %s", t.What, ascii((now - t.At).Round(time.Millisecond)), Who(t.By), ascii(t.Took.Round(time.Microsecond)))
		if why := attemptWhy(t, names); why != "" {
			text += ": " + why
		}
		if votes := votesText(t.Votes, names); votes != "" {
			text += " (" + votes + ")"
		}
		return text
	}
	return "nobody was refused it lately, as far as this proxy knows"
}

// ascii is a duration without the letter that redis-cli shows as bytes.
func ascii(d time.Duration) string { return strings.ReplaceAll(d.String(), "µ", "u") }

// lockEvents is LOCK EVENTS: the latest first.
func (s *Session) lockEvents(c *Command, args []string) Action {
	n, text := countArg(args, usualEvents, registry.MaxEvents)
	if text != "" {
		return refuse(text)
	}
	events, _ := s.d.lookout.Seen().Events.After(0, n)
	list := make([]Reply, len(events))
	for i := range events {
		e, f := &events[len(events)-1-i], fieldList{}
		f.number("number", int64(e.Number))
		f.text("at", stamp(s.d.lookout.Wall(e.At)))
		f.text("kind", e.Kind)
		f.text("about", e.About)
		f.text("text", e.Text)
		f.text("by", e.By)
		list[i] = Map(f...)
	}
	return Action{Reply: Array(list...)}
}

// lockProxies is LOCK PROXIES: this one, and those that answer it.
func (s *Session) lockProxies(c *Command, args []string) Action {
	return Action{Effect: ProxiesEffect{}}
}

// Proxies asks the other proxies who they are, and makes the reply. It waits for them.
func (s *Session) Proxies() Reply {
	list := []Reply{proxyReply(s.d.lookout.Self(), true)}
	for _, p := range s.d.Colleagues() {
		list = append(list, proxyReply(p, false))
	}
	return Array(list...)
}

// Colleagues asks the other proxies who they are, and waits for them.
func (d *Dialect) Colleagues() (list []Proxy) {
	seen := map[string]bool{d.lookout.Self().ID: true}
	for _, a := range d.askOthers(question{Ask: askProxies}) {
		if !seen[a.Proxy.ID] {
			seen[a.Proxy.ID] = true
			list = append(list, a.Proxy)
		}
	}
	return list
}

func proxyReply(p Proxy, me bool) Reply {
	f := fieldList{}
	f.text("id", p.ID)
	f.add("this-one", truth(me))
	f.text("address", p.Address)
	f.text("version", p.Version)
	f.text("since", stamp(p.Since))
	f.add("ready", truth(p.Ready))
	f.number("clients", int64(p.Clients))
	return Map(f...)
}

func (s *Session) lockStatus(c *Command, args []string) Action { return Action{Effect: StatusEffect{}} }
