package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/master"
)

var epoch = time.Unix(1_000_000, 0)

func owed(key, value string, ttl time.Duration) debt {
	ends := time.Duration(epoch.Add(ttl).UnixNano())
	return debt{key: key, value: value, ends: clock.Span{From: ends - ms, To: ends + ms}, dies: epoch.Add(ttl)}
}

// all takes everything there is, as "key=value".
func (d *debts) all(now time.Time) (list []string) {
	due, _ := d.take(1<<20, now)
	for _, x := range due {
		list = append(list, x.key+"="+x.value)
	}
	return list
}

func TestDebtsArePaidOldestFirst(t *testing.T) {
	var d debts
	for _, k := range []string{"c", "a", "b"} {
		d.add(owed(k, "t", time.Minute), epoch)
	}
	first, _ := d.take(2, epoch)
	if len(first) != 2 || first[0].key != "c" || first[1].key != "a" || d.len() != 1 {
		t.Errorf("took %v, %d are left", first, d.len())
	}
	if rest := d.all(epoch); !slices.Equal(rest, []string{"b=t"}) || d.len() != 0 || d.bytes != 0 {
		t.Errorf("then took %v; %d debts of %d bytes are left", rest, d.len(), d.bytes)
	}
}

// Locks of one key and token are told apart by when they end.
func TestDebtsForOneLockAreOne(t *testing.T) {
	var d debts
	d.add(owed("k", "t", time.Minute), epoch)
	d.add(owed("k", "t", time.Second), epoch)
	d.add(owed("k", "t", time.Minute), epoch)
	if d.len() != 2 {
		t.Fatalf("%d debts for two locks", d.len())
	}
}

// What a master held when it was lost is what is there when it returns; later
// locks of the key were never put to it.
func TestLaterLockOfTheSameKeyDoesNotReplaceADebt(t *testing.T) {
	var d debts
	d.add(owed("k", "t1", time.Minute), epoch)
	d.add(owed("k", "t2", time.Minute), epoch)
	if all := d.all(epoch); !slices.Contains(all, "k=t1") {
		t.Errorf("owed are %v, and k=t1 is forgotten", all)
	}
}

func TestDebtDiesWithItsLock(t *testing.T) {
	var d debts
	d.add(owed("short", "t", time.Second), epoch)
	d.add(owed("long", "t", time.Minute), epoch)
	if dropped := d.add(owed("late", "t", 0), epoch); dropped != 1 || d.len() != 2 {
		t.Errorf("a debt that is over: dropped %d, %d left", dropped, d.len())
	}
	later := epoch.Add(time.Second)
	if dropped := d.expire(later); dropped != 1 || d.len() != 1 {
		t.Errorf("dropped %d, %d left", dropped, d.len())
	}
	due, dropped := d.take(10, epoch.Add(time.Minute))
	if len(due) != 0 || dropped != 1 || d.bytes != 0 {
		t.Errorf("took %v, dropped %d, %d bytes left", due, dropped, d.bytes)
	}
	eternal := debt{key: "k", value: "t", eternal: true, dies: epoch.Add(time.Hour)}
	if d.add(eternal, epoch); d.expire(epoch.Add(59*time.Minute)) != 0 || d.len() != 1 {
		t.Error("a debt for a lock without expiry was dropped")
	}
	if d.expire(epoch.Add(time.Hour)) != 1 {
		t.Error("a debt for a lock without expiry lives for ever")
	}
}

func TestDebtsAreBounded(t *testing.T) {
	var d debts
	dropped := 0
	for i := range maxDebts + 100 {
		dropped += d.add(owed(fmt.Sprint(i), "t", time.Minute), epoch)
	}
	if d.len() != maxDebts || dropped != 100 {
		t.Errorf("%d debts, %d dropped", d.len(), dropped)
	}
	if due, _ := d.take(1, epoch); due[0].key != "0" {
		t.Errorf("the oldest left is %s", due[0].key)
	}
	var big debts
	value := strings.Repeat("v", 1<<20)
	dropped = 0
	for i := range 40 {
		dropped += big.add(owed(fmt.Sprint(i), value, time.Minute), epoch)
	}
	if big.bytes > master.MaxDebtBytes || big.len()+dropped != 40 || big.len() == 0 {
		t.Errorf("%d debts of %d bytes, %d dropped", big.len(), big.bytes, dropped)
	}
}

func TestDebtNamesValueAndExpiry(t *testing.T) {
	d := owed("k", "t", 1500*ms)
	d.nonce = "v0"
	got := d.argv(nil, epoch.Add(500*ms))
	if want := []string{"EVALSHA", takeBackScript.SHA, "3", "k", quorum.MarkerKey, catchup.LeaseKey, "t", "1000001499", "1000001501", "0", "v0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	d.eternal, d.ends = true, clock.Span{}
	got = d.argv(nil, epoch.Add(time.Second))
	if want := []string{"EVALSHA", takeBackScript.SHA, "3", "k", quorum.MarkerKey, catchup.LeaseKey, "t", "0", "0", "1", "v0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got = d.argv(nil, epoch.Add(time.Hour)); got != nil {
		t.Errorf("a debt that is over is paid: %q", got)
	}
}

// What is owed is paid, needless, dropped or left.
func TestDebtsCloseTheirSum(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		sums := func(owed, paid, needless, dropped, left uint64) {
			t.Helper()
			s := w.engine.Status()
			if got, want := [5]uint64{s.DebtsOwed, s.DebtsPaid, s.DebtsNeedless, s.DebtsDropped, s.DebtsLeft}, [5]uint64{owed, paid, needless, dropped, left}; got != want {
				t.Errorf("owed, paid, needless, dropped, left: %v, want %v", got, want)
			}
			if n := uint64(s.Masters[2].Debts); n != left {
				t.Errorf("%d are left, and master 3 is owed %d", left, n)
			}
		}
		for _, key := range []string{"paid", "needless"} {
			w.want(w.acquire(key, "a", time.Minute), quorum.Won)
		}
		w.want(w.acquire("dropped", "a", 5*time.Second), quorum.Won)
		w.settle()
		w.masters[2].forget("needless")
		sums(0, 0, 0, 0, 0)
		w.down(3)
		for _, key := range []string{"paid", "needless", "dropped"} {
			w.want(w.release(key, "a"), quorum.Won)
		}
		sums(3, 0, 0, 0, 3)
		time.Sleep(6 * time.Second)
		sums(3, 0, 0, 1, 2)
		w.up(3)
		sums(3, 1, 1, 1, 0)
		if s := w.engine.Status().Masters[2]; s.Unknown != 0 || s.Unasked == 0 {
			t.Errorf("votes of the master that was away: %d unknown, %d not asked for", s.Unknown, s.Unasked)
		}
	})
}

func TestWhatHasEndedIsNotPutBack(t *testing.T) {
	for _, c := range []struct {
		record  decide.UndoRecord
		elapsed time.Duration
		before  string
		left    string
	}{
		{decide.UndoRecord{Before: "v", Left: 1000}, 400 * ms, "v", "600"},
		{decide.UndoRecord{Before: "v", Left: 1000}, 999 * ms, "v", "1"},
		{decide.UndoRecord{Before: "v", Left: 1000}, time.Second, "", "0"},
		{decide.UndoRecord{Before: "v", Left: 1000}, time.Hour, "", "0"},
		{decide.UndoRecord{Before: "v", Left: decide.SaysNoTTL}, time.Hour, "v", "0"},
		{decide.UndoRecord{Left: -2}, 0, "", "0"},
	} {
		if before, left := c.record.At(c.elapsed); before != c.before || left != c.left {
			t.Errorf("%+v after %v: %q for another %s ms, want %q, %s", c.record, c.elapsed, before, left, c.before, c.left)
		}
	}
}

// A quorum hangs. What is removed from the third is owed to the two by its value, which is told
// of a string alone: of another type it would stay with them behind a yes.
func TestRemovalIsAnsweredWithAYesOnlyWhereItIsOneOrIsOwed(t *testing.T) {
	for _, lock := range []quorum.Request{{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}, runOf(takeHash, "k", "a", "60000")} {
		inWorld(t, 3, func(w *world) {
			w.want(w.ask(lock), quorum.Won)
			w.settle()
			w.each((*fakeMaster).freeze, 1, 2)
			removed := w.ask(quorum.Request{Kind: quorum.Remove, Key: "k"})
			time.Sleep(2 * time.Second)
			w.each((*fakeMaster).unfreeze, 1, 2)
			w.votesWithin(1, 5*time.Second)
			w.votesWithin(2, 5*time.Second)
			time.Sleep(2 * time.Second)
			if got := w.read("k"); removed.Decision == quorum.Won && got.Exists {
				t.Errorf("the key was removed, and is there: %+v", got)
			}
		})
	}
}

// Debts that are over go from anywhere; the others stay in their order, and the same can be owed anew.
func TestDebtsThatAreOverGoFromBetweenOthers(t *testing.T) {
	var d debts
	for i, ttl := range []time.Duration{time.Minute, time.Second, time.Minute, time.Second, time.Minute} {
		d.add(owed(fmt.Sprint(i), "t", ttl), epoch)
	}
	d.take(1, epoch)
	if dropped := d.expire(epoch.Add(2 * time.Second)); dropped != 2 {
		t.Errorf("%d were over", dropped)
	}
	for _, again := range []string{"0", "1", "4"} {
		d.add(owed(again, "t", time.Minute), epoch)
	}
	size := 5 * owed("0", "t", time.Minute).size()
	if d.bytes != size-owed("4", "t", time.Minute).size() {
		t.Errorf("%d bytes of %d debts, not of 4", d.bytes, d.len())
	}
	if all := d.all(epoch); !slices.Equal(all, []string{"2=t", "4=t", "0=t", "1=t"}) || d.bytes != 0 {
		t.Errorf("owed were %v, and %d bytes are", all, d.bytes)
	}
}
