package engine

import "redlock-proxy/quorum"

// What is remembered of what was sent, see sent.go: about which key, and what that may have done to it.

// deed is what a command may have done to a key.
type deed uint16

const (
	empties  deed = 1 << iota // all keys
	frees                     // whatever it holds
	releases                  // of its token
	takes                     // by whatever it sets
	asks                      // as its token
	idle                      // none of it, by what was answered
	declines                  // none of it, but what it met may be its client's
	spares                    // and it would have freed that
	plain                     // it is a transaction, or another command of Redis's
	wide                      // the key stands for all that have it as their tag
	within                    // by what was answered, the script has kept to the keys that it was given
)

// place is a key by its hash, and by that of its tag, which is the same where the key has none.
type place struct{ key, tag uint64 }

func (db *database) place(key string) place {
	p := place{key: db.hash(key)}
	p.tag = p.key
	if tag := quorum.Tag(key); len(tag) < len(key) {
		p.tag = db.hash(tag)
	}
	return p
}

// mark is what was sent about a key.
type mark struct {
	key, lock uint64 // hashes; lock is 0 of what names no token, and the saying of what declines
	at        ordinal
	does      deed
	names     names // of what declines
}

// saying is which script, in its upper half, has said what, by hashes; 0 if that is not known.
type saying uint64

// lost is what is known of a lost command that is to be taken back: by whom it may have been taken
// for his lock who came behind it, and has done nothing.
type lost struct {
	minor  bool // a quorum of the masters has not done it, and will not
	names  names
	script saying // which it was, with what all have said who declined it; 0 of what is none
	acted  saying // the same with what it said where it was carried out
}

// denied tells that who has declined was not told that what is lost is his. By the same script
// he was told no, as the lost one was, or is a stranger, who names nothing that the lost one does,
// and was not told what that says where it takes the lock; by another he would have let go of it.
// By a command of Redis's he is a stranger, too.
func (l lost) denied(m *mark) bool {
	said, stranger := saying(m.lock), l.names.strangers(&m.names)
	switch {
	case m.does&declines == 0:
		return false
	case m.does&plain != 0:
		return stranger
	case said == 0 || said == l.acted:
		return false
	}
	if said>>32 == l.script>>32 {
		return stranger || l.minor && said == l.script
	}
	return (stranger || l.minor) && m.does&spares != 0
}

// about tells that it is about a key, or may be.
func (m *mark) about(k place) bool {
	if m.does&wide != 0 {
		return m.key == k.tag
	}
	return m.key == k.key
}

// frees tells that a key may have been freed by it, of whatever it held.
func (m *mark) frees(k place) bool {
	return m.does&empties != 0 || m.does&(frees|releases) != 0 && m.about(k)
}

// freesLock tells that a key with one token may have been freed by it.
func (m *mark) freesLock(k place, lock uint64) bool {
	return m.does&empties != 0 || m.does&frees != 0 && m.about(k) || m.lock == lock && m.does&releases != 0
}
