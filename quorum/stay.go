package quorum

// Stay is of somebody who waits for what clients send, and may carry a request to the masters himself
// meanwhile: see the engine's PutStaying. One goroutine uses it at a time.
type Stay interface {
	// Stayed tells, once, that the latest request was carried so, until all masters that he borrowed had answered.
	Stayed() bool
	Close()
}
