package quorum

// Observer is told by masters that keys have changed. Its methods must not block.
type Observer interface {
	// Changed tells that a key may have changed on a master, counted from 0, in whatever database, by whomever; once for
	// each time that it was watched at most. Other keys may have changed too where a master was lost: that is told by "".
	Changed(master int, key string)

	// Watched tells that a master tells of the next change of a key from now on, and whether it lacks it. It may have
	// lacked it before.
	Watched(master int, key string, absent bool)

	// Broadcasts tells that a master tells of all changes from now on, or does no more, and Broadcast that a key may have
	// changed on it then, all for "".
	Broadcasts(master int, on bool)
	Broadcast(master int, key string)
}
