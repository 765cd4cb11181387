package marker

// Unfit says why a server can be no master as it is, and what cures that.
type Unfit struct{ what, cure string }

// NewUnfit is that error: "what: cure".
func NewUnfit(what, cure string) *Unfit { return &Unfit{what, cure} }

func (e *Unfit) Error() string { return e.what + ": " + e.cure }

// Twin says that a server is two of the masters.
func Twin(other string) error {
	return NewUnfit("it is the same server as "+other, "a quorum counts each server once; name another one, or leave one of the two out")
}

// ErrChanging is why a proxy does not serve before the change is finished.
var ErrChanging = NewUnfit("change-masters has begun to make it one of this set, and has not finished", "give the same order again, until it succeeds")
