package engine

import (
	"testing"

	"redlock-proxy/quorum"
)

// at is a key that has no tag.
func at(key uint64) place { return place{key, key} }

// What was sent last is known of each key by itself; what was sent long before that is not
// forgotten, but may be another key's.
func TestWhatWasSentIsRememberedForAsLongAsItMatters(t *testing.T) {
	const (
		key, lock = 3 * shards, 5 * shards // with memories of their own
		other     = 9 * shards
	)
	for name, does := range map[string]deed{"freed": frees, "released": releases} {
		for between, others := range map[string]int{"just now": 0, "some batches ago": recents - 1, "long ago": 2 * recents} {
			t.Run(name+" "+between, func(t *testing.T) {
				var s sentSo
				s.last++
				before := s.last
				s.last++
				s.mark(key, lock, does)
				for range others {
					s.last++
					s.mark(other, other, asks)
				}
				if !s.freedSince(at(key), before) || !s.goneSince(at(key), before, lost{}) || !s.lockFreedSince(at(key), lock, before) || !s.lockGoneSince(at(key), lock, before, lost{}) {
					t.Error("it is forgotten")
				}
				if s.freedSince(at(other), before) || s.lockFreedSince(at(key), lock, s.last) || s.freedSince(at(key), s.last) {
					t.Error("what was not freed is said to be")
				}
			})
		}
	}
}

// The place of a command that has done nothing is told by what is taken away alone.
func TestWhatHasDoneNothingIsNotGone(t *testing.T) {
	var s sentSo
	s.last++
	s.mark(1, 2, frees)
	s.answered(0, 1, func(int) answered { return answered{does: idle} })
	if s.lockGoneSince(at(1), 2, 0, lost{}) || s.goneSince(at(1), 0, lost{}) {
		t.Error("it has freed the lock")
	}
	if !s.lockFreedSince(at(1), 2, 0) || !s.freedSince(at(1), 0) {
		t.Error("what is given behind it may be given after others carried it out")
	}
}

func TestFlushFreesEachLock(t *testing.T) {
	var flush op
	flush.Request = quorum.Request{Kind: quorum.Survey, Args: []string{"FLUSHALL"}}
	for name, others := range map[string]int{"just now": 0, "long ago": 2 * recents} {
		var s sentSo
		s.note(&flush)
		last := s.last
		for range others {
			s.last++
			s.mark(9*shards, 9*shards, asks)
		}
		if !s.lockGoneSince(at(1), 2, 0, lost{}) || !s.lockFreedSince(at(1), 2, 0) || !s.freedSince(at(1), 0) || s.lockGoneSince(at(1), 2, last, lost{}) {
			t.Errorf("%s, it has not freed all that was there, and nothing else", name)
		}
		s.answered(last-1, 1, func(int) answered { return answered{does: idle} })
		if others == 0 && s.lockGoneSince(at(1), 2, 0, lost{}) {
			t.Error("it has, though it came too late")
		}
	}
}

// What a script may have done to a key that it was not given, it may to all of its tag, and to no
// other, until its answer tells that it kept to its own.
func TestScriptThatReachesMayHaveFreedAllOfItsTag(t *testing.T) {
	const tag, key, other = 3 * shards, 5 * shards, 9 * shards // with memories of their own
	mate, same, stranger := place{key, tag}, at(tag), place{other, other + 1}
	for name, between := range map[string]int{"just now": 0, "long ago": 2 * recents} {
		var s sentSo
		s.last++
		s.mark(tag, 0, frees|takes|wide)
		for range between {
			s.last++
			s.mark(11*shards, 11*shards, asks)
		}
		for _, k := range []place{mate, same} {
			if !s.freedSince(k, 0) || !s.goneSince(k, 0, lost{}) || !s.lockFreedSince(k, 7, 0) || !s.lockGoneSince(k, 7, 0, lost{}) || !s.takenSince(k, 0) {
				t.Errorf("%s, it is not said to have freed %v", name, k)
			}
		}
		if s.freedSince(stranger, 0) || s.lockGoneSince(stranger, 7, 0, lost{}) || s.takenSince(stranger, 0) {
			t.Errorf("%s, it is said to have freed another tag's", name)
		}
		s.answered(0, 1, func(int) answered { return answered{does: within} })
		if gone := s.goneSince(mate, 0, lost{}); gone != (between > 0) || !s.freedSince(mate, 0) {
			t.Errorf("%s, that it kept to its own keys makes gone %v", name, gone)
		}
	}
}
