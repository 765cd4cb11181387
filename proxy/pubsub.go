package proxy

import (
	"redlock-proxy/commands"
	"redlock-proxy/proxy/resp"
	"redlock-proxy/quorum"
)

// carryOutPubsub turns the effects of publish and subscribe into replies. It is
// false for any other.
func (c *conn) carryOutPubsub(a *commands.Action) bool {
	of := &c.srv.subscribers
	switch e := a.Effect.(type) {
	case commands.SubscribeEffect:
		c.subscribe(a, e)
	case commands.UnsubscribeEffect:
		of.unsubscribe(c, e.Channels, e.Patterns)
		a.Reply = e.Reply
	case commands.PublishEffect:
		c.publish(a, e)
	case commands.ChannelsEffect:
		var names []commands.Reply
		for _, name := range of.matching(e) {
			if c.session.KnowsOf(name) {
				names = append(names, commands.Bulk(name))
			}
		}
		a.Reply = commands.Array(names...)
	case commands.NumPatEffect:
		_, _, patterns := of.totals()
		a.Reply = commands.Integer(int64(patterns))
	case commands.NumSubEffect:
		var pairs []commands.Reply
		for i, n := range of.counts(e.Channels) {
			name, _ := quorum.ChannelOf(e.Channels[i])
			pairs = append(pairs, commands.Bulk(name), commands.Integer(int64(n)))
		}
		a.Reply = commands.Array(pairs...)
	default:
		return false
	}
	return true
}

// subscribe waits until messages can be heard. The reply is sent here and not by
// the caller, as no message may come before it.
func (c *conn) subscribe(a *commands.Action, e commands.SubscribeEffect) {
	c.flush() // what it is owed does not wait
	heard := c.srv.engine.Subscribe()
	reply := c.session.Subscribed(e, heard)
	if heard.Decision != quorum.Won {
		a.Reply = reply
		return
	}
	if !c.srv.subscribers.subscribe(c, e, resp.Append(nil, &reply, c.session.Proto())) {
		a.Close = true
	}
}

// publish comes after everything that the client asked for before: whoever is
// woken by the message must find it done, a lock's release for one.
func (c *conn) publish(a *commands.Action, e commands.PublishEffect) {
	c.mu.Lock()
	for c.phase != cutOff && c.owed.head != nil {
		c.waitFlushed()
	}
	gone := c.phase == cutOff
	c.mu.Unlock()
	if gone {
		a.Close = true
		return
	}
	a.Reply = commands.Integer(int64(c.srv.engine.Publish(e.Channel, e.Message)))
}

// unsubscribeAll is the reader's, as it ends.
func (c *conn) unsubscribeAll() {
	if c.snapshot.Load().Tracking.On {
		c.trackNoMore()
	}
	if c.session.Snapshot().Monitors {
		c.srv.monitors.unwatch(c)
	}
	if c.session.Snapshot().Subscribed() {
		channels, patterns := c.session.Subscriptions()
		c.srv.subscribers.unsubscribe(c, channels, patterns)
	}
}
