package quorum

// Observer is told by masters that keys have changed. Its methods must not block.
type Observer interface {
	// Changed tells that a key may have changed, in whatever database, by whomever; once for each time that it was
	// watched and each master at most. Other keys may have changed too where a master was lost: that is told by "".
	Changed(key string)

	// Absent tells that a master does not hold a key that it was to watch. It may have lacked it before.
	Absent(key string)
}
