package engine

import (
	"testing"

	"redlock-proxy/quorum"
)

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
				if !s.freedSince(key, before) || !s.goneSince(key, before, lost{}) || !s.lockFreedSince(key, lock, before) || !s.lockGoneSince(key, lock, before, lost{}) {
					t.Error("it is forgotten")
				}
				if s.freedSince(other, before) || s.lockFreedSince(key, lock, s.last) || s.freedSince(key, s.last) {
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
	if s.lockGoneSince(1, 2, 0, lost{}) || s.goneSince(1, 0, lost{}) {
		t.Error("it has freed the lock")
	}
	if !s.lockFreedSince(1, 2, 0) || !s.freedSince(1, 0) {
		t.Error("what is given behind it may be given after others carried it out")
	}
}

func TestFlushFreesEachLock(t *testing.T) {
	var flush op
	flush.Request = quorum.Request{Kind: quorum.Survey, Args: []string{"FLUSHALL"}}
	for name, others := range map[string]int{"just now": 0, "long ago": 2 * recents} {
		var s sentSo
		s.note(&flush)
		at := s.last
		for range others {
			s.last++
			s.mark(9*shards, 9*shards, asks)
		}
		if !s.lockGoneSince(1, 2, 0, lost{}) || !s.lockFreedSince(1, 2, 0) || !s.freedSince(1, 0) || s.lockGoneSince(1, 2, at, lost{}) {
			t.Errorf("%s, it has not freed all that was there, and nothing else", name)
		}
		s.answered(at-1, 1, func(int) answered { return answered{does: idle} })
		if others == 0 && s.lockGoneSince(1, 2, 0, lost{}) {
			t.Error("it has, though it came too late")
		}
	}
}
