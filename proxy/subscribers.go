package proxy

import (
	"slices"
	"strings"
	"sync"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/commands/glob"
	"redlock-proxy/proxy/resp"
	"redlock-proxy/quorum"
)

// subscribers is which connections listen to what: the audience of the engine.
// What each of them is subscribed to its session knows too, whose names are
// added and taken out here as the session's change.
type subscribers struct {
	mu       sync.Mutex           // guards what follows; taken before a connection's mu
	channels map[string]listeners // of both kinds, spelled as quorum.Channel has it
	shards   int                  // how many of them are shards'
	patterns map[string]followed
	sought   []sought  // the patterns as Deliver goes through them; nil if they have changed
	owed     listeners // got messages that are not flushed
}

type listeners map[*conn]struct{}

// followed is a pattern that somebody is subscribed to. What it is compiled to lasts as long.
type followed struct {
	glob *glob.Pattern
	by   listeners
}

type sought struct {
	pattern string
	glob    *glob.Pattern
}

// Deliver is the engine's. A connection that cannot take the message is cut off
// for it, and nobody waits: what patterns match is found out without mu.
func (s *subscribers) Deliver(channel, message string) (receivers int) {
	var matching []string
	name, shard := quorum.ChannelOf(channel)
	if !shard { // no pattern is about these
		for _, f := range s.seek() {
			if f.glob.Match(name) {
				matching = append(matching, f.pattern)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	receivers = s.give(s.channels[channel], commands.Message(channel, message))
	for _, pattern := range matching {
		if to := s.patterns[pattern].by; len(to) > 0 {
			receivers += s.give(to, commands.PatternMessage(pattern, name, message))
		}
	}
	return receivers
}

// seek is all patterns. The slice is never written to again.
func (s *subscribers) seek() []sought {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sought == nil && len(s.patterns) > 0 {
		s.sought = make([]sought, 0, len(s.patterns))
		for pattern, f := range s.patterns {
			s.sought = append(s.sought, sought{pattern, f.glob})
		}
	}
	return s.sought
}

// give is called with mu held. The push is encoded once for each protocol.
func (s *subscribers) give(to listeners, push commands.Reply) (receivers int) {
	var encoded [4][]byte
	for c := range to {
		proto := c.snapshot.Load().Proto
		if encoded[proto] == nil {
			encoded[proto] = resp.Append(nil, &push, proto)
		}
		if !c.deliver(encoded[proto]) {
			continue
		}
		receivers++
		if s.owed == nil {
			s.owed = make(listeners)
		}
		s.owed[c] = struct{}{}
	}
	return receivers
}

// Flush is the engine's, after Deliver. Whoever calls it flushes what others
// have delivered too.
func (s *subscribers) Flush() {
	s.mu.Lock()
	owed := s.owed
	s.owed = nil
	s.mu.Unlock()
	for c := range owed {
		c.flushDelivered()
	}
}

// deliver adds a message behind everything that the client is owed. It is false if the
// connection is about to end, maybe for this message: it did not ask for it, so nothing
// else keeps it from being owed ever more. As on Redis, a quarter of what it may be owed it may
// be owed for a minute, however slowly it reads meanwhile.
func (c *conn) deliver(encoded []byte) bool { return c.mayHave(encoded) && c.append(encoded) }

// mayHave tells that a client may be sent what he has not asked for. One who does not read is cut off.
func (c *conn) mayHave(encoded []byte) bool {
	limit := c.srv.cfg.Limits.MaxUnread
	c.mu.Lock()
	ending, over := c.phase >= closing, c.unread+len(encoded) > limit
	over = c.over.lasts(c.unread > limit/4, c.srv.clock()) > unreadTimeout || over
	c.mu.Unlock()
	switch {
	case ending:
		return false
	case over:
		c.overflow()
		return false
	}
	return true
}

// since is when something began that has been so ever since, by the server's clock.
type since struct {
	so bool
	at time.Duration
}

// lasts notes whether it is so, and tells for how long it has been.
func (s *since) lasts(so bool, now time.Duration) time.Duration {
	if so && !s.so {
		s.at = now
	}
	if s.so = so; !so {
		return 0
	}
	return now - s.at
}

func (c *conn) flushDelivered() {
	defer c.recover()
	c.flush()
}

// subscribe takes a connection in. The reply goes to the client in the same step,
// before any message; it is false if that could not be.
func (s *subscribers) subscribe(c *conn, e commands.SubscribeEffect, reply []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Patterns {
		s.follow(c, e.Names)
	} else {
		s.listen(c, e.Names)
	}
	return c.append(reply)
}

// listen is called with mu held, as is follow.
func (s *subscribers) listen(c *conn, channels []string) {
	if s.channels == nil {
		s.channels = make(map[string]listeners)
	}
	for _, channel := range channels {
		to := s.channels[channel]
		if to == nil {
			to = make(listeners, 1)
			s.channels[channel] = to
			s.countShard(channel, 1)
		}
		to[c] = struct{}{}
	}
}

func (s *subscribers) follow(c *conn, patterns []string) {
	if s.patterns == nil {
		s.patterns = make(map[string]followed)
	}
	for _, pattern := range patterns {
		f, there := s.patterns[pattern]
		if !there {
			f = followed{glob.New(pattern), make(listeners, 1)}
			s.patterns[pattern], s.sought = f, nil
		}
		f.by[c] = struct{}{}
	}
}

// unsubscribe takes a connection out. No message comes to it once that returns.
func (s *subscribers) unsubscribe(c *conn, channels, patterns []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, channel := range channels {
		to, there := s.channels[channel]
		if delete(to, c); there && len(to) == 0 {
			delete(s.channels, channel)
			s.countShard(channel, -1)
		}
	}
	for _, pattern := range patterns {
		to := s.patterns[pattern].by
		if delete(to, c); len(to) == 0 {
			delete(s.patterns, pattern)
			s.sought = nil
		}
	}
}

// countShard is called with mu held where a channel comes or goes.
func (s *subscribers) countShard(channel string, n int) {
	if _, shard := quorum.ChannelOf(channel); shard {
		s.shards += n
	}
}

// matching are the names of the channels that somebody is subscribed to, in order.
func (s *subscribers) matching(e commands.ChannelsEffect) (names []string) {
	s.mu.Lock()
	for channel := range s.channels {
		if name, shard := quorum.ChannelOf(channel); shard == e.Shards {
			names = append(names, name)
		}
	}
	s.mu.Unlock()
	if !e.All {
		glob := glob.New(e.Pattern)
		names = slices.DeleteFunc(names, func(name string) bool { return !glob.Match(name) })
	}
	slices.SortFunc(names, strings.Compare)
	return names
}

// counts tells how many have subscribed to each channel.
func (s *subscribers) counts(channels []string) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := make([]int, len(channels))
	for i, name := range channels {
		counts[i] = len(s.channels[name])
	}
	return counts
}

// totals are how many channels, shards' channels and patterns somebody is subscribed to.
func (s *subscribers) totals() (channels, shards, patterns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.channels) - s.shards, s.shards, len(s.patterns)
}
