package commands

import (
	"slices"

	"redlock-proxy/commands/glob"
	"redlock-proxy/quorum"
)

// What a house does with the effects of publish and subscribe.

func (g *guest) pubsubEffect(effect Effect) (reply Reply, known bool) {
	h := g.house
	switch e := effect.(type) {
	case SubscribeEffect:
		return g.session.Subscribed(e, quorum.Result{Decision: quorum.Won}), true
	case UnsubscribeEffect:
		return e.Reply, true
	case PublishEffect:
		return Integer(h.publish(e.Channel, e.Message)), true
	case ChannelsEffect:
		var names []string
		for _, other := range h.present() {
			channels, _ := other.session.Subscriptions()
			for _, name := range channels {
				name, shard := quorum.ChannelOf(name)
				if shard != e.Shards {
					continue
				}
				if e.All || glob.New(e.Pattern).Match(name) {
					names = append(names, name)
				}
			}
		}
		slices.Sort(names)
		return Array(describeAll(slices.Compact(names), Bulk)...), true
	case NumPatEffect:
		var names []string
		for _, other := range h.present() {
			_, patterns := other.session.Subscriptions()
			names = append(names, patterns...)
		}
		slices.Sort(names)
		return Integer(int64(len(slices.Compact(names)))), true
	case NumSubEffect:
		var pairs []Reply
		for _, name := range e.Channels {
			n := int64(0)
			for _, other := range h.present() {
				if channels, _ := other.session.Subscriptions(); slices.Contains(channels, name) {
					n++
				}
			}
			name, _ = quorum.ChannelOf(name)
			pairs = append(pairs, Bulk(name), Integer(n))
		}
		return Array(pairs...), true
	}
	return Reply{}, false
}

func (h *house) present() (guests []*guest) {
	for _, g := range h.guests {
		if !g.gone {
			guests = append(guests, g)
		}
	}
	return guests
}

func (h *house) publish(channel, message string) (receivers int64) {
	push := func(g *guest, r Reply) {
		receivers++
		g.replies = append(g.replies, lines(nil, r, g.session.Proto()))
	}
	for _, g := range h.present() {
		channels, patterns := g.session.Subscriptions()
		if slices.Contains(channels, channel) {
			push(g, Message(channel, message))
		}
		_, shard := quorum.ChannelOf(channel)
		for _, pattern := range patterns {
			if !shard && glob.New(pattern).Match(channel) {
				push(g, PatternMessage(pattern, channel, message))
			}
		}
	}
	return receivers
}
