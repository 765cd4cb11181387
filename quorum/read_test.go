package quorum

import (
	"testing"
	"time"
)

// What each of three masters holds: value a or b, nothing (n), or no answer in
// time (u).
func TestReadTellsWhatAQuorumHolds(t *testing.T) {
	for masters, want := range map[string]string{
		"aaa": "a", "aab": "a", "aan": "a", "aau": "a", "baa": "a",
		"nnn": "nil", "nna": "nil", "nnu": "nil", "abn": "nil", "anb": "nil", "nan": "nil",
		"anu": "NOQUORUM", "abu": "NOQUORUM", "auu": "NOQUORUM", "nuu": "NOQUORUM", "uuu": "NOQUORUM",
	} {
		for _, valueOnly := range []bool{false, true} {
			inWorld(t, 3, func(w *world) {
				for i, m := range w.masters {
					switch masters[i] {
					case 'a', 'b':
						m.put("k", masters[i:i+1], time.Minute)
					case 'u':
						m.set(func(m *fakeMaster) { m.delay = 300 * ms })
					}
				}
				r := w.ask(Request{Kind: Read, Key: "k", ValueOnly: valueOnly})
				got := r.Value
				switch {
				case r.Decision == Unavailable:
					got = "NOQUORUM"
				case !r.Exists:
					got = "nil"
				}
				if got != want {
					t.Errorf("of %s is read %s, want %s (%+v)", masters, got, want, r)
				}
			})
		}
	}
}

func TestTTLIsTheOneThatAQuorumStillHas(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		for i, ttl := range []time.Duration{50, 10, 40, 20, 30} {
			w.masters[i].put("k", "t", ttl*time.Second)
		}
		// One answers too late to be counted, or all would be waited for.
		for _, m := range w.masters {
			m.set(func(m *fakeMaster) { m.lag = ms })
		}
		r := w.read("k")
		// The votes of any three decide; the third largest is never over 30 s.
		if r.TTL > unpad(30*time.Second) || r.TTL < unpad(10*time.Second-3*ms) {
			t.Errorf("read %v", r.TTL)
		}
		w.masters[0].put("k2", "t", 0)
		w.masters[1].put("k2", "t", 0)
		w.masters[2].put("k2", "t", 0)
		w.masters[3].put("k2", "x", time.Minute)
		w.masters[4].put("k2", "x", time.Minute)
		if r := w.read("k2"); r.TTL != NoTTL || r.Value != "t" {
			t.Errorf("read %+v", r)
		}
	})
}
