package quota

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// world is a user's books, a perfect master, and what is on its way between them.
type world struct {
	*rand.Rand
	use      Use
	now      time.Duration
	held     map[Lock]mastersLock
	underway []operation
}

type mastersLock struct {
	token string
	ends  time.Duration
}

const (
	acquires = iota
	overwrites
	extends
)

// operation is one that masters have carried out, and that is not noted yet.
type operation struct {
	lock   Lock
	token  string
	mark   uint64
	ends   time.Duration
	ttl    time.Duration
	how    int  // one of the following
	late   bool // it is carried out when it is answered
	lost   bool // its answer is
	took   bool
	frees  bool
	doubts []Lock
	seen   []mastersLock
}

func (w *world) count() int {
	for l, h := range w.held {
		if h.ends <= w.now {
			delete(w.held, l)
		}
	}
	return len(w.held)
}

// settle notes what became of one.
func (w *world) settle(i int) {
	op := w.underway[i]
	w.underway = slices.Delete(w.underway, i, i+1)
	if op.late {
		w.carryOut(&op)
	}
	switch {
	case op.doubts != nil:
		for j, l := range op.doubts {
			w.use.Looked(l, op.seen[j].token != "", op.seen[j].token, op.mark)
		}
	case op.frees:
		w.use.Freed(op.lock, op.mark)
	case op.lost:
		w.use.MayHave(op.lock, op.token)
	case op.took:
		w.use.Took(op.lock, op.token, op.ends, op.mark)
	default:
		w.use.NotTook(op.lock)
	}
}

// look is what masters say now of locks in doubt.
func (w *world) look() bool {
	op := operation{doubts: w.use.Doubts(w.now), mark: w.use.Mark()}
	w.count()
	for _, l := range op.doubts {
		op.seen = append(op.seen, w.held[l])
	}
	if len(op.doubts) > 0 {
		w.underway = append(w.underway, op)
	}
	return len(op.doubts) > 0
}

// acquire is false if that was one too many.
func (w *world) acquire(lock Lock, most int) bool {
	ttl := time.Duration(1+w.IntN(500)) * time.Millisecond
	op := operation{lock: lock, mark: w.use.Mark(), token: fmt.Sprint("t", w.IntN(3)), ttl: ttl,
		how: w.IntN(3), late: w.IntN(4) == 0, lost: w.IntN(8) == 0}
	if !w.use.Take(lock, most, w.now) {
		return false
	}
	if !op.late {
		w.carryOut(&op)
	}
	w.underway = append(w.underway, op)
	return true
}

// carryOut is what the master does.
func (w *world) carryOut(op *operation) {
	op.ends = w.now + op.ttl + op.ttl/50 + time.Second
	w.count()
	has := w.held[op.lock].token
	if op.lost && w.IntN(2) == 0 {
		return
	}
	if op.how == acquires && has == "" || op.how == overwrites || op.how == extends && has == op.token {
		w.held[op.lock] = mastersLock{op.token, w.now + op.ttl}
		op.took = true
	}
}

// Whatever is on its way, answered late or in another order, freed by others or on the masters: there are never
// more locks than may be, and once all is answered and the masters were asked, no lock counts that is not held.
func TestThereAreNeverMoreLocksThanMayBe(t *testing.T) {
	const most = 4
	full := 0
	for seed := range uint64(3000) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 1)), held: make(map[Lock]mastersLock)}
		for range 300 {
			w.now += time.Duration(w.IntN(int(30 * time.Millisecond)))
			lock := Lock{w.IntN(2), fmt.Sprint("k", w.IntN(5))}
			switch n := w.IntN(12); {
			case n < 5:
				if !w.acquire(lock, most) {
					full++
					w.look()
				}
			case n == 5: // he frees it
				w.underway = append(w.underway, operation{lock: lock, frees: true, mark: w.use.Mark()})
				delete(w.held, lock)
			case n == 6: // somebody else does
				delete(w.held, lock)
			case len(w.underway) > 0:
				w.settle(w.IntN(len(w.underway)))
			}
			if held := w.count(); held > most {
				t.Fatalf("seed %d: %d locks are held, of %d that may be", seed, held, most)
			}
		}
		for len(w.underway) > 0 {
			w.settle(0)
		}
		w.now += doubtSpan
		if w.look() {
			w.settle(0)
		}
		if held, known := w.count(), w.use.Held(w.now); known != held {
			t.Fatalf("seed %d: %d locks are held, and %d are thought to be", seed, held, known)
		}
	}
	if full == 0 {
		t.Error("there was never one too many")
	}
}

// What is asked for counts until it is answered, however late that is, and is not in doubt before.
func TestWhatIsAskedForCounts(t *testing.T) {
	u, now := new(Use), time.Second
	a, b, c := Lock{0, "a"}, Lock{0, "b"}, Lock{0, "c"}
	if !u.Take(a, 2, now) || !u.Take(b, 2, now) || u.Take(c, 2, now) {
		t.Fatal("of three locks two were to be had")
	}
	now += time.Hour
	if u.Take(c, 2, now) {
		t.Fatal("a lock that may be granted does not count")
	}
	u.Took(a, "t", now+time.Hour, u.Mark())
	if doubts := u.Doubts(now); len(doubts) != 1 || doubts[0] != a {
		t.Errorf("%v are in doubt, want a: b may be on its way", doubts)
	}
	mark := u.Mark()
	u.Looked(b, false, "", mark)
	if n := u.Held(now); n != 2 {
		t.Errorf("%d are held, want 2", n)
	}
	u.NotTook(b)
	if n := u.Held(now + 2*time.Hour); n != 0 {
		t.Errorf("%d are held, want none", n)
	}
}

func TestMastersAreAskedForFewLocksAtOnce(t *testing.T) {
	u := new(Use)
	for i := range 1000 {
		l := Lock{0, fmt.Sprint(i)}
		if !u.Take(l, 1000, 0) {
			t.Fatal(i)
		}
		u.Took(l, "t", Forever, u.Mark())
	}
	for _, c := range []struct {
		at   time.Duration
		want int
	}{{time.Second, mostDoubts}, {time.Second + doubtSpan - 1, 0}, {time.Second + doubtSpan, mostDoubts}} {
		if n := len(u.Doubts(c.at)); n != c.want {
			t.Errorf("at %v they were asked for %d, want %d", c.at, n, c.want)
		}
	}
}

// So many a second come whoever asks, and no more at once than come in a tenth of a second.
func TestRate(t *testing.T) {
	for _, rate := range []int{1, 3, 10, 100, 1000, 1_000_000} {
		u, now := new(Use), 5*time.Second
		var turns []time.Duration
		for range min(3*rate, 20_000) {
			_, wait := u.Turn(rate, Turn{}, now)
			turns = append(turns, now+wait)
		}
		atOnce := min(max(rate/10, 1), len(turns))
		for i := range turns {
			if i < atOnce && turns[i] != now {
				t.Fatalf("rate %d: command %d waits %v", rate, i, turns[i]-now)
			}
		}
		last, want := turns[len(turns)-1]-now, time.Duration(len(turns)-atOnce)*(time.Second/time.Duration(rate))
		if last != want {
			t.Errorf("rate %d: command %d comes after %v, want %v", rate, len(turns), last, want)
		}
		if _, wait := u.Turn(rate, Turn{}, now+time.Hour); wait != 0 {
			t.Errorf("rate %d: who was silent for an hour waits %v", rate, wait)
		}
	}
}

// Nobody waits for those who have left, or by a rate that was.
func TestTurnsThatAreGivenBack(t *testing.T) {
	u, now := new(Use), 5*time.Second
	var line []Turn
	for range 1000 {
		turn, _ := u.Turn(10, Turn{}, now)
		line = append(line, turn)
	}
	for _, turn := range line[2:999] {
		turn.Leave()
	}
	want := func(has Turn, rate int, at time.Duration) {
		t.Helper()
		if turn, wait := u.Turn(rate, has, now); now+wait != at {
			t.Errorf("%v waits %v, want %v", turn, wait, at-now)
		}
	}
	want(Turn{}, 10, now+200*time.Millisecond)
	want(line[999], 10, now+300*time.Millisecond) // it closes up, and leaves its own to another
	want(line[1], 10, now+100*time.Millisecond)
	now += 10 * time.Second
	want(line[1], 10, now) // it is late itself
	want(Turn{}, 10, now)
	want(Turn{}, 10, now+100*time.Millisecond)
	want(line[998], 100, now)
	line[997].Leave() // which was another rate's
	want(Turn{}, 100, now)
	for range 8 {
		u.Turn(100, Turn{}, now)
	}
	want(Turn{}, 100, now+10*time.Millisecond)
}
