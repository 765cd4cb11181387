package quorum

// Audience is who gets the messages: the subscribers of this proxy. Both methods
// must neither block nor call the engine.
type Audience interface {
	// Deliver gives a message to all who subscribed to its channel or to a
	// pattern that matches it, and tells how many times. It is called by one
	// goroutine at a time.
	Deliver(channel, message string) (receivers int)
	// Flush is called after Deliver: what that gathered should now be sent.
	Flush()
}
