// Package messages is publish and subscribe among the clients of all proxies of the same
// masters, but for the masters: the engine carries envelopes to them and hears them.
//
// A message goes to the subscribers of this proxy at once, and to the other proxies in an
// Envelope that is published on every master that can be reached. Each proxy is subscribed to
// all masters and delivers the first copy that it gets. A message that a quorum of masters took
// reaches every proxy that a quorum of them is heard by: the two have a master in common.
//
// It is best effort, as in Redis. What one proxy publishes arrives in its order at every other
// one, as long as no master leaves anything out; messages of different proxies arrive at
// different proxies in different orders.
package messages
