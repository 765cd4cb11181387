package quorum

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var epoch = time.Unix(1_000_000, 0)

func owed(key, value string, ttl time.Duration) debt {
	return debt{key: key, value: value, until: epoch.Add(ttl)}
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

func TestDebtsForOneLockAreOne(t *testing.T) {
	var d debts
	d.add(owed("k", "t", time.Minute), epoch)
	d.add(owed("k", "t", time.Second), epoch)
	if d.len() != 1 {
		t.Fatalf("%d debts for one lock", d.len())
	}
	due, _ := d.take(1, epoch)
	if due[0].until != epoch.Add(time.Minute) {
		t.Errorf("the lock may live until %v, the debt ends at %v", epoch.Add(time.Minute), due[0].until)
	}
	eternal := owed("k", "t", time.Second)
	eternal.eternal, eternal.dies = true, epoch.Add(time.Hour)
	d.add(eternal, epoch)
	d.add(owed("k", "t", time.Minute), epoch)
	if due, _ = d.take(1, epoch); !due[0].eternal {
		t.Error("a debt that may be without expiry has lost that")
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
	if big.bytes > maxDebtBytes || big.len()+dropped != 40 || big.len() == 0 {
		t.Errorf("%d debts of %d bytes, %d dropped", big.len(), big.bytes, dropped)
	}
}

func TestDebtNamesValueAndExpiry(t *testing.T) {
	d := owed("k", "t", 1500*ms)
	d.nonce = "v0"
	got := d.argv(nil, epoch.Add(500*ms))
	if want := []string{"EVALSHA", takeBackScript.sha, "3", "k", MarkerKey, catchUpLease, "t", "1000", "0", "v0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	d.eternal = true
	got = d.argv(nil, epoch.Add(time.Hour))
	if want := []string{"EVALSHA", takeBackScript.sha, "3", "k", MarkerKey, catchUpLease, "t", "0", "1", "v0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
