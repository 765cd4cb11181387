package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/marker"
)

func TestSourceWithAnotherNonceIsReadFromItsBeginning(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.fill(3 * catchup.PageKeys)
		w.lose(1)
		began, pages := 0, 0
		w.whenever(2, scans, func(m *fakeMaster, args []string) {
			if args[1] == "0" {
				began++
			}
			if pages++; pages == 2 {
				// It forgot, and another proxy has admitted it: of what was read
				// it is not known whether it was still all.
				text := m.marker()
				m.keys[quorum.MarkerKey] = fakeKey{value: string(marker.NewNonce(false)) + text[marker.NonceLength:]}
				m.keys["late"] = fakeKey{value: "a"}
			}
		})
		w.votesWithin(1, 5*time.Second)
		if began != 2 {
			t.Errorf("its reading began %d times", began)
		}
		w.wantValues("late", "a", "a", "")
	})
}

func TestSourceThatForgetsOnTheWayIsNone(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.fill(3 * catchup.PageKeys)
		w.lose(1)
		w.whenever(3, scans, func(m *fakeMaster, args []string) { clear(m.keys) })
		// Too few are left that remember. Both wait.
		w.votesNotWithin(1, w.cfg.MaxTTL-time.Second)
		w.votesWithin(1, 5*time.Second)
	}, briefTTL)
}

func TestSourceWhoseClockJumpsIsNone(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("k", "a", time.Minute, 3)
		w.fill(3 * catchup.PageKeys)
		w.lose(1)
		w.at(3, catchup.ReadingScript, func(m *fakeMaster, args []string) {
			m.jumped += 2 * time.Minute // k seems to have ended
			m.respond = nil
		})
		w.votesNotWithin(1, w.cfg.MaxTTL-time.Second)
	}, briefTTL)
}

// What is left of its ttls is told too short then, and the copies would end early.
func TestSourceWhoseClockIsSetBehindASlowReplyIsNone(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(1)
		w.want(w.acquire("k", "a", 3*time.Second), quorum.Won) // on 2 and 3
		began := time.Now()
		w.masters[1].forget("k") // an extension did not reach it
		w.up(1)
		w.lose(1)
		w.at(3, catchup.ReadingScript, func(m *fakeMaster, args []string) {
			m.respond = nil
			m.jumped += 200 * ms
			m.answersLate(220 * ms)
			time.AfterFunc(500*ms, func() { m.set(func(m *fakeMaster) { m.answersLate(0) }) })
		})
		w.votesNotWithin(1, time.Until(began.Add(2900*ms)))
		if r := w.acquire("k", "b", time.Minute); r.Decision == quorum.Won {
			t.Errorf("%+v", r)
		}
	}, briefTTL)
}

func TestSourceThatIsAwayIsReplacedOrWaitedFor(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		w.down(5)
		w.sets("k", "a", time.Minute, 2)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		w.wantValues("k", "a", "a", "", "", "")

		w.lose(1)
		w.down(4) // two are left, where three are needed
		w.votesNotWithin(1, 10*time.Second)
		w.up(4)
		w.votesWithin(1, 3*time.Second)
		w.wantValues("k", "a", "a", "", "", "")
	})
}

// A source that hangs is no source for that time, and holds up nothing for longer.
func TestSourceThatHangsOnTheWayIsGivenUp(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		w.fill(3 * catchup.PageKeys)
		w.sets("k", "a", time.Minute, 2)
		w.lose(1)
		w.at(3, catchup.ReadingScript, func(m *fakeMaster, args []string) {
			if m.thaw == nil {
				m.thaw = make(chan struct{})
			}
		})
		w.votesWithin(1, 6*time.Second)
		w.wantValues("k", "a", "a", "", "", "")
	})
}

// Of fewer sources than are needed it cannot be told that a lock is over.
func TestTooFewSourcesTakeNothingBack(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("eternal", "a", 0, 2)
		w.down(3)
		w.lose(1)
		w.at(1, catchup.CopyScript, func(m *fakeMaster, args []string) { w.masters[1].forget("eternal") })
		w.votesNotWithin(1, w.cfg.MaxTTL-time.Second)
		w.votesWithin(1, 3*time.Second)
		w.wantValues("eternal", "a", "", "")
	}, briefTTL)
}

func TestTooFewSourcesAreTold(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(3)
		err := w.engine.zero.catchUp(context.Background(), w.engine.zero.lanes[0], &quarantine{}, false)
		if err == nil || err.Error() != "1 of the other masters can be read, 2 are needed" {
			t.Error(err)
		}
		w.up(3)
		// A master that is admitted already is given nothing.
		err = w.engine.zero.catchUp(context.Background(), w.engine.zero.lanes[0], &quarantine{nonce: marker.NewNonce(true)}, false)
		if !errors.Is(err, catchup.ErrOtherNonce) || !strings.Contains(err.Error(), "m1: ") {
			t.Error(err)
		}
	})
}
