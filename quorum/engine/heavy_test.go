package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
)

// A master does nothing else while a script reads. What one of a catch-up reads is bounded in
// bytes and in elements, however much the keys hold that it is asked about, and it says of how
// many of them it has told.
func TestWhatOneScriptOfACatchUpReadsIsBounded(t *testing.T) {
	notInstrumented(t)
	real := bothSides(t)[0].(realSide)
	const many = 30
	heap := make(map[string][]string) // keys by what they hold
	for i := range many {
		long, set, hash, short := fmt.Sprint("long", i), fmt.Sprint("set", i), fmt.Sprint("hash", i), fmt.Sprint("short", i)
		real.do("SET", long, strings.Repeat("x", 1<<20))
		real.do("SET", short, "token")
		real.do("EVAL", `for i=1,15000 do redis.call('SADD',KEYS[1],'m'..i) redis.call('HSET',KEYS[2],'f'..i,i) end`, "2", set, hash)
		tooLong := fmt.Sprint("too long", i)
		for j := range 8 {
			real.do("EVAL", `for i=1,4096 do redis.call('HSET',KEYS[1],ARGV[1]..':'..i,('x'):rep(90)) end`, "1", tooLong, fmt.Sprint(j))
		}
		heap["too long"] = append(heap["too long"], tooLong) // to find that out is not free
		heap["long"], heap["short"] = append(heap["long"], long), append(heap["short"], short)
		heap["set"], heap["hash"] = append(heap["set"], set), append(heap["hash"], hash)
	}
	real.do("SET", quorum.MarkerKey, nonceThere)
	for what, most := range map[string]int{"short": many, "long": 2, "set": 1, "hash": 1, "too long": 9} {
		keys := heap[what]
		digests := make([]string, many)
		lay, back := []string{nonceThere}, []string{nonceThere, "run", "30000"}
		for i := range digests {
			digests[i] = catchup.DigestOf("token")
			lay, back = append(lay, "set#other"), append(back, "set#other")
		}
		real.do("SET", catchup.LeaseKey, "run")
		told := map[string]int{
			"held":    len(real.run(catchup.HeldScript, keys, digests).([]any)[0].(string)),
			"look":    len(real.run(catchup.LookScript, keys, []string{"0"}).([]any)) / 2,
			"reading": len(real.run(catchup.ReadingScript, keys, []string{fmt.Sprint(64 << 20)}).([]any)) / 2,
			"lay":     int(real.run(catchup.LayScript, append([]string{quorum.MarkerKey}, keys...), lay).([]any)[1].(int64)),
			"return":  int(real.run(catchup.ReturnScript, append([]string{quorum.MarkerKey, catchup.LeaseKey}, keys...), back).([]any)[1].(int64)),
		}
		for script, n := range told {
			if n < 1 || n > most || most == many && n != many {
				t.Errorf("of %d %s keys %s tells of %d, want %d at most", many, what, script, n, most)
			}
		}
	}
}

// What is too long to be read at once is passed over: it is the value of no other key, is not
// taken for a ghost, and keeps nothing else from being read.
func TestWhatIsTooLongForACatchUpIsPassedOver(t *testing.T) {
	real := bothSides(t)[0].(realSide)
	real.do("SET", "long", strings.Repeat("x", 17<<20))
	real.do("EVAL", `for i=1,33000 do redis.call('SADD',KEYS[1],i) end
for i=1,100 do redis.call('HSET',KEYS[2],i,('x'):rep(50000)) end
redis.call('SET',KEYS[3],'token')`, "3", "set", "hash", "k")
	keys := []string{"long", "set", "k", "hash", "nothing"}
	if got := fmt.Sprint(real.run(catchup.HeldScript, keys, []string{"", "", catchup.DigestOf("token"), "", ""})); got != "[##=#=]" {
		t.Errorf("they are held as %s", got)
	}
	if got := fmt.Sprint(real.run(catchup.LookScript, keys, []string{"1"})); got != "[? -1 ? -1 "+catchup.DigestOf("token")+" -1 ? -1  -2]" {
		t.Errorf("they look as %s", got)
	}
	read := real.run(catchup.ReadingScript, keys, []string{"1000000"}).([]any)
	if len(read) != 2*len(keys) || read[5] != "token" {
		t.Fatalf("read: %+v", read)
	}
	for i, key := range keys {
		_, leftOut := read[2*i+1].([]any) // about how long it is
		if long := i == 0 || i == 1 || i == 3; leftOut != long {
			t.Errorf("%s is read as %+v", key, read[2*i+1])
		}
	}
}

// Many values that are long are given back all the same, a few at a time.
func TestLongValuesAreGivenBackAFewAtATime(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		const keys, size = 12, 1 << 20
		for i := range keys {
			for _, m := range w.masters {
				m.put(fmt.Sprint("k", i), strings.Repeat("v", size), time.Hour)
			}
		}
		w.masters[2].restartBlank()
		time.Sleep(5 * time.Second)
		if s := w.state(3); s.State != quorum.Voting {
			t.Errorf("it is %v: %s", s.State, s.Reason)
		}
		for i := range keys {
			if v := w.masters[2].value(fmt.Sprint("k", i)); len(v) != size {
				t.Errorf("k%d holds %d bytes", i, len(v))
			}
		}
	})
}

// A key that cannot be given back keeps its master out, and is no reason to read all others
// over and over; when it has gone, the master votes soon.
func TestOneKeyThatIsTooLongHasNotAllOthersReadOverAndOver(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		const far = 100 * ms // are the sources, so that a catch-up takes four times as long
		w.sets("long", strings.Repeat("v", 17<<20), time.Hour, 1, 2)
		w.fill(3)
		runs := 0
		w.at(3, catchup.LeaseScript, func(*fakeMaster, []string) { runs++ })
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = far }) }, 1, 2)
		w.lose(3)
		for began := time.Now(); time.Since(began) < w.cfg.QuarantineTime()/2; time.Sleep(time.Second) {
			if s := w.state(3); s.State == quorum.Voting {
				t.Fatal("it votes without the key")
			}
		}
		if most := int(w.cfg.QuarantineTime() / 2 / (10 * 4 * far)); runs > most || runs == 0 {
			t.Errorf("it was caught up with %d times, most is %d", runs, most)
		}
		w.forgetAll("long", 1, 2)
		w.votesWithin(3, w.cfg.QuarantineTime()/ungivenPart+time.Second)
	})
}
