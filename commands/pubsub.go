package commands

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"redlock-proxy/commands/glob"
	"redlock-proxy/quorum"
)

// The bounds of what a client may subscribe to. Every message is matched with
// all patterns, so there are to be fewer of those, and none of them long.
const (
	maxChannels    = 10_000
	maxPatterns    = 1000
	maxChannelName = glob.MaxLength // bytes, of patterns too
	maxPatternSize = 64 << 10       // bytes of all patterns

	subscriptionSize = 256 // about what one takes beside its name, here and in the server
)

// nameSet is the channels, the shards' channels or the patterns of a session, and about what each
// takes; nil before the first. Channels are spelled as quorum.Channel has it.
type nameSet map[string]int

func (s *Session) subscribe(c *Command, args []string) Action {
	return s.ask(args[1:], s.channels, quorum.Channel)
}

func (s *Session) ssubscribe(c *Command, args []string) Action {
	return s.ask(args[1:], s.shards, quorum.ShardChannel)
}

func (s *Session) psubscribe(c *Command, args []string) Action {
	return s.ask(args[1:], s.patterns, nil)
}

// ask changes nothing yet: the client has not subscribed before messages from all
// proxies can be heard. spell is nil for patterns.
func (s *Session) ask(names []string, have nameSet, spell func(name string) string) Action {
	patterns, most, what := spell == nil, maxChannels, "channels"
	if patterns {
		most, what, spell = maxPatterns, "patterns", strings.Clone
	}
	own := make([]string, len(names))
	n, size := len(have), 0
	for name := range have {
		size += len(name)
	}
	for i, name := range names {
		if len(name) > maxChannelName {
			return refusef(errChannelName, maxChannelName)
		}
		own[i] = strings.Clone(spell(name))
		if _, there := have[own[i]]; !there {
			n++
			size += len(name)
		}
	}
	if n > most {
		return refusef(errManyNames, most, what)
	}
	if patterns && size > maxPatternSize {
		return refusef(errLongNames, maxPatternSize)
	}
	return Action{Effect: SubscribeEffect{Names: own, Patterns: patterns}}
}

// Subscribed carries a SubscribeEffect out, where the masters that can be heard
// are a quorum, and gives the reply.
func (s *Session) Subscribed(e SubscribeEffect, heard quorum.Result) Reply {
	if heard.Decision != quorum.Won {
		return Error(fmt.Sprintf(errFewHeard, heard.Voted, heard.Masters, heard.Needed))
	}
	set, word := &s.channels, "subscribe"
	if e.Patterns {
		set, word = &s.patterns, "psubscribe"
	} else if _, shard := quorum.ChannelOf(e.Names[0]); shard {
		set, word = &s.shards, "ssubscribe"
	}
	if *set == nil {
		*set = make(nameSet, len(e.Names))
	}
	replies := make([]Reply, len(e.Names))
	for i, name := range e.Names {
		if _, there := (*set)[name]; !there {
			size := len(name) + subscriptionSize
			if e.Patterns {
				size += glob.Size(name)
			}
			(*set)[name] = size
			s.named += size
		}
		s.countSubscriptions()
		replies[i] = s.pushCount(word, set, &name)
	}
	return several(replies)
}

func (s *Session) unsubscribe(c *Command, args []string) Action {
	return s.leave(&s.channels, "unsubscribe", args[1:], quorum.Channel)
}

func (s *Session) sunsubscribe(c *Command, args []string) Action {
	return s.leave(&s.shards, "sunsubscribe", args[1:], quorum.ShardChannel)
}

// leave ends subscriptions to channels.
func (s *Session) leave(set *nameSet, word string, names []string, spell func(name string) string) Action {
	spelled := make([]string, len(names))
	for i, name := range names {
		spelled[i] = spell(name)
	}
	gone, reply := s.drop(set, word, spelled)
	return Action{Effect: UnsubscribeEffect{Channels: gone, Reply: reply}}
}

func (s *Session) punsubscribe(c *Command, args []string) Action {
	gone, reply := s.drop(&s.patterns, "punsubscribe", args[1:])
	return Action{Effect: UnsubscribeEffect{Patterns: gone, Reply: reply}}
}

// drop takes names, or all, out of a set, and tells which of them were there.
// Each name has a reply, and if there is none, there is one reply all the same.
func (s *Session) drop(set *nameSet, word string, names []string) (gone []string, reply Reply) {
	if len(names) == 0 {
		names = sortedNames(*set)
	}
	var replies []Reply
	for _, name := range names {
		if size, there := (*set)[name]; there {
			delete(*set, name)
			s.named -= size
			gone = append(gone, name)
		}
		if len(*set) == 0 {
			*set = nil
		}
		s.countSubscriptions()
		replies = append(replies, s.pushCount(word, set, &name))
	}
	if replies == nil {
		replies = append(replies, s.pushCount(word, set, nil))
	}
	return gone, several(replies)
}

// pushCount tells what a client did to a name of a set, and how many subscriptions it has: those to
// shards' channels are counted apart.
func (s *Session) pushCount(word string, set *nameSet, name *string) Reply {
	reply, n := Null, s.seen.Channels+s.seen.Patterns
	if set == &s.shards {
		n = s.seen.Shards
	}
	if name != nil {
		reply = Bulk(*name)
		if set != &s.patterns {
			reply.Str, _ = quorum.ChannelOf(*name)
		}
	}
	return Push(Bulk(word), reply, Integer(int64(n)))
}

func several(replies []Reply) Reply {
	if len(replies) == 1 {
		return replies[0]
	}
	return Reply{Kind: SeveralReplies, Elems: replies}
}

// Subscriptions are what the session is subscribed to: channels of both kinds as they are spelled,
// and patterns.
func (s *Session) Subscriptions() (channels, patterns []string) {
	return append(sortedNames(s.channels), sortedNames(s.shards)...), sortedNames(s.patterns)
}

func sortedNames(set nameSet) []string { return slices.Sorted(maps.Keys(set)) }

// forgetSubscriptions ends them all without a word, as RESET does.
func (s *Session) forgetSubscriptions() (gone UnsubscribeEffect) {
	gone.Channels, gone.Patterns = s.Subscriptions()
	s.channels, s.shards, s.patterns, s.named = nil, nil, nil, 0
	s.countSubscriptions()
	return gone
}

func (s *Session) countSubscriptions() {
	s.seen.Channels, s.seen.Shards, s.seen.Patterns = len(s.channels), len(s.shards), len(s.patterns)
}

// listening tells that the connection is in the mode in which RESP2 has messages:
// a client cannot tell them from replies, so few commands are left to it.
func (s *Session) listening() bool { return s.seen.Proto == 2 && s.seen.Subscribed() }

// forListeners tells that the command is one of these few.
func (c *Command) forListeners() bool {
	switch c.Name {
	case "ping", "subscribe", "ssubscribe", "psubscribe", "unsubscribe", "sunsubscribe", "punsubscribe", "quit", "reset":
		return true
	}
	return false
}

func (s *Session) publish(c *Command, args []string) Action {
	return publish(quorum.Channel(args[1]), args)
}

func (s *Session) spublish(c *Command, args []string) Action {
	return publish(quorum.ShardChannel(args[1]), args)
}

func publish(channel string, args []string) Action {
	if len(args[1]) > maxChannelName {
		return refusef(errChannelName, maxChannelName)
	}
	return Action{Effect: PublishEffect{Channel: channel, Message: args[2]}}
}

// pubsubChannels is PUBSUB CHANNELS and SHARDCHANNELS.
func (s *Session) pubsubChannels(c *Command, args []string) Action {
	shards := c.Name == "pubsub|shardchannels"
	switch len(args) {
	case 2:
		return Action{Effect: ChannelsEffect{All: true, Shards: shards}}
	case 3:
		if len(args[2]) > maxChannelName {
			return refusef(errChannelName, maxChannelName)
		}
		return Action{Effect: ChannelsEffect{Pattern: args[2], Shards: shards}}
	}
	return refusef("ERR unknown subcommand or wrong number of arguments for '%s'. Try PUBSUB HELP.", quoted(args[1], errorWords))
}

func (s *Session) pubsubNumPat(c *Command, args []string) Action {
	return Action{Effect: NumPatEffect{}}
}

// pubsubNumSub is PUBSUB NUMSUB and SHARDNUMSUB.
func (s *Session) pubsubNumSub(c *Command, args []string) Action {
	spell := quorum.Channel
	if c.Name == "pubsub|shardnumsub" {
		spell = quorum.ShardChannel
	}
	channels := slices.Clone(args[2:])
	for i := range channels {
		channels[i] = spell(channels[i])
	}
	return Action{Effect: NumSubEffect{Channels: channels}}
}

// Message is a message as a subscriber of its channel, which is spelled, gets it.
func Message(channel, message string) Reply {
	word := "message"
	name, shard := quorum.ChannelOf(channel)
	if shard {
		word = "smessage"
	}
	return Push(Bulk(word), Bulk(name), Bulk(message))
}

// PatternMessage is the same for a subscriber of a pattern that the channel matches.
func PatternMessage(pattern, channel, message string) Reply {
	return Push(Bulk("pmessage"), Bulk(pattern), Bulk(channel), Bulk(message))
}
