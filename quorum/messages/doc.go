// Package messages is publish and subscribe among the clients of all proxies of the same
// masters, and what the proxies ask each other, but for the masters: the engine carries envelopes
// and letters to them and hears them.
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
// On the same channel proxies ask each other. A question goes through every master that can be
// reached, as an answer does, in letters, which are none of the clients' messages: no client can
// send or get one. Each proxy that hears answers the first copy, if only with nothing, so that
// whoever asks need not wait for long where all that are known to be there have. Where a quorum of
// masters take the question, and a quorum of them is heard by the proxy that is asked, and so back,
// it is answered; with fewer it may be. It is best effort again: what finds no room is not
// answered, and who has not been heard of is not waited for.
//
//	bus.go            what is published and received, and the line of what is to be delivered here
//	copies.go         which message was delivered already
//	envelope.go       a message on its way through the masters
//	inquiries.go      what is asked here, and the line of what is to be answered; who is there
//	inquiry.go        a question of ours, until its answers have come
//	letter.go         a question or an answer on its way through the masters
//	subscriptions.go  how many masters this proxy hears
//
// It starts no goroutine: Bus.Run and Inquiries.Answer are to be given one each, and what listens
// to a master is the engine's.
package messages
