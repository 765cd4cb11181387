// Package messages is publish and subscribe among the clients of all proxies of the same
// masters, but for the masters: the engine carries envelopes to them and hears them.
//
// A message goes to the subscribers of this proxy at once, and to the other proxies in an
// envelope that is published on every master that can be reached. Each proxy is subscribed to
// all masters and delivers the first copy that it gets. A message that a quorum of masters took
// reaches every proxy that a quorum of them is heard by: the two have a master in common.
//
// It is best effort, as in Redis. What one proxy publishes arrives in its order at every other
// one, as long as no master leaves anything out; messages of different proxies arrive at
// different proxies in different orders.
//
//	bus.go            what is published and received, and the line of what is to be delivered here
//	copies.go         which message was delivered already
//	envelope.go       a message on its way through the masters
//	subscriptions.go  how many masters this proxy hears
//
// It starts no goroutine: Bus.Run is to be given one, and what listens to a master is the engine's.
package messages
