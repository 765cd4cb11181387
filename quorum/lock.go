package quorum

// Lock is a lock that was won, until it is known whether its client was told. The zero
// Lock is none.
type Lock struct {
	Key  string
	Held Holding // nil: there is none
}

// Holding is for the engine: what it keeps of a lock, until that is told.
type Holding interface{ Told() }

// Told says that the client knows of its lock, or may. The Lock is not the caller's any
// more.
func (l Lock) Told() {
	if l.Held != nil {
		l.Held.Told()
	}
}
