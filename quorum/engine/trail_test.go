package engine

import (
	"crypto/sha1"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/journal"
)

// missedBy2 has masters 1 and 3 win a step that 2 misses, which another proxy's keeps busy.
func (w *world) missedBy2(s *quorum.Script, key string, args ...string) {
	w.t.Helper()
	w.settle()
	time.Sleep(3 * time.Second)
	w.masters[1].latch(key, 100*ms)
	if r := w.stepOn(s, key, args...).wait(w.t); r.Decision != quorum.Won {
		w.t.Fatalf("the step that one misses came to %v", r.Decision)
	}
	w.settle()
}

// wantLists tells what the masters hold of a list each.
func (w *world) wantLists(key, want string) {
	w.t.Helper()
	for _, m := range w.masters {
		if got := strings.Join(m.elements(key), " "); got != want {
			w.t.Errorf("%s holds %q, want %q", m.name, got, want)
		}
	}
}

// Of two masters it is known which of them has missed a step, though the third, which has not, is away.
func TestWhatAMasterHasMissedComesToItThoughAnotherIsAway(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.stepOn(pushStep, "l", "a").wait(t)
		w.missedBy2(pushStep, "l", "x")
		w.down(3)
		w.wantNumber(w.stepOn(pushStep, "l", "y").wait(t), 3)
		w.up(3)
		time.Sleep(10 * time.Second)
		w.wantLists("l", "a x y")
	})
}

// Nor does one that has forgotten keep it from them, or they keep that out; also where nobody asks for it.
func TestAMasterThatHasForgottenIsGivenWhatOthersHeldApart(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.stepOn(pushStep, "l", "a").wait(t)
		w.stepOn(pushStep, "m", "a").wait(t)
		w.stepOn(pushStep, "m", "b").wait(t)
		w.missedBy2(pushStep, "l", "x")
		w.missedBy2(popStep, "m")
		w.masters[2].restartBlank()
		w.votesWithin(3, 20*time.Second)
		time.Sleep(10 * time.Second)
		w.wantLists("l", "a x")
		w.wantLists("m", "b")
	})
}

// What was the last in a list is not told again by a master that has missed that, and another that has forgotten.
func TestTheLastOfAListIsToldOnceThoughAMasterForgets(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		other := w.beside(2, func() bool { return false })
		other.stepOn(pushStep, "l", "a").wait(t)
		other.missedBy2(popStep, "l")
		w.stop(other.engine)
		w.masters[2].restartBlank()
		w.votesWithin(3, 20*time.Second)
		time.Sleep(10 * time.Second)
		if r := w.stepOn(popStep, "l").wait(t); r.Decision == quorum.Won {
			t.Errorf("it is told again: %+v", r.Script)
		}
		w.wantLists("l", "")
	})
}

// What a master was brought up to, by a step or a look, it has come to by the same steps as the others.
func TestMasterThatWasBroughtUpHasNotGoneAnotherWay(t *testing.T) {
	for by, meanwhile := range map[string]func(w *world){
		"a step": func(w *world) { time.Sleep(100 * ms); w.stepOn(pushStep, "l", "c").wait(t) },
		"a look": func(*world) { time.Sleep(5 * time.Second) },
	} {
		t.Run(by, func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				w.stepOn(pushStep, "l", "a").wait(t)
				w.missedBy2(pushStep, "l", "b")
				meanwhile(w)
				w.missedBy2(pushStep, "l", "d")
				w.down(3)
				w.want(w.stepOn(pushStep, "l", "e").wait(t), quorum.Won)
			})
		})
	}
}

// Nor where it misses the next one at once.
func TestMasterThatIsBroughtUpMayMissTheNext(t *testing.T) {
	for by, c := range map[string]struct {
		does  func(w *world)
		holds int
	}{
		"a look": {func(*world) {}, 2},
		"a step": {func(w *world) {
			time.Sleep(100 * ms)
			w.wantNumber(w.stepOn(pushStep, "l", "c").wait(t), 3)
		}, 3},
	} {
		t.Run(by, func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				w.stepOn(pushStep, "l", "a").wait(t)
				w.missedBy2(pushStep, "l", "b")
				c.does(w)
				for range 1000 {
					if len(w.masters[1].elements("l")) == c.holds {
						break
					}
					time.Sleep(ms)
				}
				w.masters[1].latch("l", 50*ms)
				w.want(w.stepOn(pushStep, "l", "d").wait(t), quorum.Won)
				w.down(3)
				time.Sleep(100 * ms)
				w.want(w.stepOn(pushStep, "l", "e").wait(t), quorum.Won)
			})
		})
	}
}

// Nor has one of which a lost step was taken back.
func TestMasterOfWhichAStepWasTakenBackHasNotGoneAnotherWay(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.stepOn(pushStep, "l", "a").wait(t)
		w.missedBy2(pushStep, "l", "b")
		w.masters[0].latch("l", 2*time.Second)
		w.masters[2].latch("l", 2*time.Second)
		if r := w.stepOn(pushStep, "l", "lost").wait(t); r.Decision != quorum.Split {
			t.Fatalf("%v", r.Decision)
		}
		w.down(3)
		time.Sleep(2 * time.Second)
		w.wantNumber(w.stepOn(pushStep, "l", "c").wait(t), 3)
	})
}

// The proxy that knows who has missed something may be gone: whoever gives a master back what it has forgotten looks at what
// the others hold apart.
func TestWhatAProxyThatIsGoneLeftApartIsLookedAt(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		other := w.beside(2, func() bool { return false })
		other.stepOn(pushStep, "l", "a").wait(t)
		other.missedBy2(pushStep, "l", "x")
		w.stop(other.engine)
		w.masters[2].restartBlank()
		w.votesWithin(3, 20*time.Second)
		time.Sleep(10 * time.Second)
		w.wantLists("l", "a x")
	})
}

// What a real master tells of a trail is what was made of it.
func TestTrailIsAsAMasterHasIt(t *testing.T) {
	notInstrumented(t)
	real := bothSides(t)[0].(realSide)
	for _, key := range []string{"k", strings.Repeat("k", 70)} {
		real.do("FLUSHALL")
		var trail string
		run := func(s *quorum.Script, step string, args ...string) (mark string) {
			t.Helper()
			argv := slices.Concat([]string{"1", "0"}, args, []string{journal.Hold, step, "60000", journal.NoDate})
			answer := real.run(journal.FormOf(s).Own(), []string{key}, argv).([]any)
			told := strings.Split(answer[len(answer)-1].(string)+"/", "/")
			if told[1] != trail {
				t.Errorf("%s tells the trail %v, want %q", step, told, trail)
			}
			return told[2]
		}
		step := func(i int) {
			t.Helper()
			mark := run(pushStep, fmt.Sprintf("0123456789abcdef:%d", i), "v")
			if len(mark) != 8 || strings.Contains(trail, mark) {
				t.Errorf("step %d has the mark %q", i, mark)
			}
			trail += mark + "-"
			trail = trail[max(len(trail)-72, 0):]
		}
		end := func(ends, becomes, after string, won ...string) { // keys, and their trails
			t.Helper()
			real.do("SET", journal.Latch(key), "own", "PX", "60000")
			keys, trails := won[:len(won)/2], won[len(won)/2:]
			if trail = after; ends == "let-go" {
				said := real.run(letGoScript, append([]string{quorum.StepsKey, journal.Latch(key)}, keys...), append([]string{"own", fmt.Sprint(len(keys))}, trails...))
				if fmt.Sprint(said) != "[1]" {
					t.Fatalf("%s: %v", ends, said)
				}
				run(mendStep, "0123456789abcdef:m")
				real.do("DEL", journal.Latch(key))
				return
			}
			keys = append([]string{key, undoKeys[1], undoKeys[2], journal.Latch(key), quorum.StepsKey}, keys...)
			dumped, _ := real.do("DUMP", key).(string)
			said := real.run(latchScript, keys, append([]string{"own", ends, "", dumped, becomes, "0", "0", "0", "1", "", "", "", after}, trails...))
			if said != int64(saysEnded) {
				t.Fatalf("%s: %v", ends, said)
			}
			run(mendStep, "0123456789abcdef:m")
			real.do("DEL", journal.Latch(key))
		}
		for i := range 10 {
			step(i)
		}
		end("let-go", "", trail)
		end("let-go", "", trail[:71]+"+", "another", key, "01234567+", trail[:71]+"+")
		step(10)
		end("take-back", real.dump("the"), "01234567+")
		end("bring-up", "", "fedcba98-")
		end("let-go", "", "fedcba98+01234567+", key, "fedcba98+01234567+")
		end("bring-up", "", "")
		end("let-go", "", "", key, "")
		step(11)
		calm := real.do("HGET", quorum.StepsKey, quorumField(key)).(string)
		real.do("HSET", quorum.StepsKey, quorumField(key), calm[len(calm)-37:]) // as who does not know of trails
		trail = ""
		step(12)
		real.do("SET", key, "another's")
		trail = ""
		run(mendStep, "0123456789abcdef:n")
		for _, broken := range []string{"x", "00000000000000x00000000000000x", strings.Repeat("9", 15) + "x", strings.Repeat("x", 29), "0" + strings.Repeat("x", 14) + strings.Repeat("0", 14),
			"0" + strings.Repeat(" ", 11) + "nan" + strings.Repeat("0", 14), strings.Repeat("0", 26) + "inf", "0-0000000000001" + strings.Repeat("0", 14),
			"00x000000000001" + strings.Repeat("0", 14), "x" + strings.Repeat("0", 28)} {
			for _, trail := range []string{"", "01234567-", "x", strings.Repeat("01234567+", 9)} {
				d := real.do("DUMP", key).(string)
				real.do("HSET", quorum.StepsKey, quorumField(key), trail+d[len(d)-8:]+broken)
				run(mendStep, "0123456789abcdef:o")
			}
		}
	}
}

// quorumField is under which name quorum.StepsKey has a key.
func quorumField(key string) string {
	if len(key) <= 64 {
		return key
	}
	sum := fmt.Sprintf("%x", sha1.Sum([]byte(key)))
	return sum + sum
}

// The first element of a list is brought to a master that has none, and stays there as long as where it comes from.
func TestWhatIsBroughtWhereNothingIsStays(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.stepOn(pushStep, "l", "a").wait(t)
		w.stepOn(popStep, "l").wait(t)
		w.missedBy2(pushStep, "l", "x")
		w.down(3)
		w.wantNumber(w.stepOn(pushStep, "l", "y").wait(t), 2)
		time.Sleep(time.Second)
		w.wantNumber(w.stepOn(pushStep, "l", "z").wait(t), 3)
		w.up(3)
		time.Sleep(30 * time.Second)
		w.wantLists("l", "x y z")
	})
}

// A pop was told that there is nothing. It comes to one master behind a push that was won, and its answer is lost: what it takes
// there is not gone, though one of the others is away.
func TestWhatWasToldNotToBeIsNotReached(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.stepOn(pushStep, "l", "a").wait(t)
		w.stepOn(popStep, "l").wait(t)
		w.settle()
		time.Sleep(3 * time.Second)
		serve := w.masters[0].holdBack()
		other := w.beside(2, func() bool { return false })
		time.Sleep(100 * ms)
		w.want(w.stepOn(popStep, "l").wait(t), quorum.Contended)
		w.wantNumber(other.stepOn(pushStep, "l", "y").wait(t), 1)
		w.settle()
		w.masters[0].sever()
		serve()
		w.settle()
		if got := len(w.masters[0].elements("l")); got != 0 {
			t.Fatalf("%d elements are left where the pop comes late", got)
		}
		w.masters[2].cut()
		for range 6 {
			time.Sleep(3 * time.Second)
			if r := other.stepOn(popStep, "l").wait(t); r.Decision == quorum.Won || r.Decision == quorum.Contended {
				t.Errorf("while one of the others is away %v is told", r.Decision)
			}
		}
		w.masters[2].rejoin()
		time.Sleep(2 * time.Minute)
		if r := other.stepOn(popStep, "l").wait(t); r.Decision != quorum.Won || r.Script.Str != "y" {
			t.Errorf("the element is told by %v, %+v", r.Decision, r.Script)
		}
	})
}

// However many lists one of the others lacks, a master that has forgotten is given them.
func TestManyListsThatOneMasterLacksKeepNoOtherOut(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		for i := range catchup.MaxDisputed + 100 {
			for _, m := range []*fakeMaster{w.masters[0], w.masters[2]} {
				m.locked(func() { m.becomes(fmt.Sprint("l", i), listDump([]string{"a"}), "0", "", "") })
			}
		}
		w.masters[2].restartBlank()
		w.noticed(3)
		w.votesWithin(3, 30*time.Second)
	})
}

// A push comes to a master that was brought up to it meanwhile, and beyond: that is not ahead of the others by it, though it has
// made the same of the list as they had by then.
func TestMasterThatHasDoneAStepTwiceIsNotAhead(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		for range 3 {
			w.stepOn(pushStep, "l", "a").wait(t)
		}
		w.settle()
		time.Sleep(3 * time.Second)
		serve := w.masters[0].holdBack()
		other := w.beside(2, func() bool { return false })
		time.Sleep(100 * ms)
		w.wantNumber(w.stepOn(pushStep, "l", "a").wait(t), 4) // 1 has it in a socket
		w.delayed(5*ms, 2, 3)
		w.want(other.stepOn(popStep, "l").wait(t), quorum.Won)
		time.Sleep(10 * ms)
		w.delayed(0, 2, 3)
		serve()
		w.settle()
		if lists := len(w.masters[0].elements("l")) - len(w.masters[1].elements("l")); lists != 1 {
			t.Fatalf("it has done it %d times", lists)
		}
		w.masters[2].cut()
		popped := 1
		for range 12 {
			if r := other.stepOn(popStep, "l").wait(t); r.Decision == quorum.Won {
				popped++
			}
			time.Sleep(500 * ms)
		}
		w.masters[2].rejoin()
		time.Sleep(2 * time.Minute)
		for range 5 {
			if r := other.stepOn(popStep, "l").wait(t); r.Decision == quorum.Won {
				popped++
			}
		}
		if popped > 4 {
			t.Errorf("4 were pushed, %d were popped", popped)
		}
		if got := len(w.masters[0].elements("l")); got != 0 {
			t.Errorf("%d are left", got)
		}
	})
}
