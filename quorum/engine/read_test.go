package engine

import (
	"math/bits"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// What each of three masters holds: value a or b, nothing (n), or no answer in
// time (u).
func TestReadTellsWhatAQuorumHolds(t *testing.T) {
	for masters, want := range map[string]string{
		"aaa": "a", "aab": "a", "aan": "a", "aau": "a", "baa": "a",
		"nnn": "nil", "nna": "nil", "nnu": "nil", "abn": "nil", "anb": "nil", "nan": "nil",
		"anu": "split", "abu": "split", "auu": "NOQUORUM", "nuu": "NOQUORUM", "uuu": "NOQUORUM",
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
				r := w.ask(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: valueOnly})
				got := r.Value
				switch {
				case r.Decision == quorum.Unavailable:
					got = "NOQUORUM"
				case r.Decision == quorum.Split:
					got = "split"
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

// One master has missed the last write, and the next one is on its way: there are three
// values, none of which has a quorum, and yet the key is there all the time.
func TestReadWhileAWriteIsOnItsWayFindsTheKey(t *testing.T) {
	for _, first := range []string{"o", ""} { // what the one that has missed it holds
		for _, valueOnly := range []bool{false, true} {
			inWorld(t, 3, func(w *world) {
				set := func(value string) quorum.Request {
					return quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", value}}
				}
				if first != "" {
					w.want(w.ask(set(first)), quorum.Won)
				}
				w.down(3)
				w.want(w.ask(set("a")), quorum.Won)
				w.up(3)
				two, three := w.masters[1].holdBack(), w.masters[2].holdBack()
				write := w.put(set("b"))
				w.settle()
				w.wantValues("k", "b", "a", first)
				w.engine = w.start(w.cfg)
				read := w.put(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: valueOnly})
				time.Sleep(2 * ms)
				two()
				three()
				if r := read.wait(t); r.Decision != quorum.Won || r.Value != "a" && r.Value != "b" {
					t.Errorf("%+v", r)
				}
				w.want(write.wait(t), quorum.Won)
			})
		}
	}
}

// One master is down, and a lock is on its way: the others differ for a moment.
func TestReadWhileALockIsTakenDoesNotNeedTheMasterThatIsDown(t *testing.T) {
	for _, valueOnly := range []bool{false, true} {
		inWorld(t, 3, func(w *world) {
			w.down(3)
			two := w.masters[1].holdBack()
			taken := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
			w.settle()
			w.wantValues("k", "t", "", "")
			w.engine = w.start(w.cfg)
			read := w.put(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: valueOnly})
			time.Sleep(ms)
			two()
			if r := read.wait(t); r.Decision != quorum.Won || r.Value != "t" {
				t.Errorf("%+v", r)
			}
			w.want(taken.wait(t), quorum.Won)
		})
	}
}

// They differ for good, and nobody knows what the third has.
func TestReadOfWhatAQuorumMayHoldIsNoNil(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].put("k", "t", time.Minute)
		w.down(3)
		if r := w.read("k"); r.Decision != quorum.Split || r.Exists || r.Type != "string" || r.Why != "1 down" {
			t.Errorf("%+v", r)
		}
		if r := w.extend("k", "t", time.Minute); r.Decision != quorum.Split {
			t.Errorf("extended: %+v", r)
		}
		w.up(3)
		if r := w.read("k"); r.Decision != quorum.Won || r.Exists {
			t.Errorf("once all are there: %+v", r)
		}
	})
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
		if r.TTL > clock.Unpad(30*time.Second) || r.TTL < clock.Unpad(10*time.Second-3*ms) {
			t.Errorf("read %v", r.TTL)
		}
		w.masters[0].put("k2", "t", 0)
		w.masters[1].put("k2", "t", 0)
		w.masters[2].put("k2", "t", 0)
		w.masters[3].put("k2", "x", time.Minute)
		w.masters[4].put("k2", "x", time.Minute)
		if r := w.read("k2"); r.TTL != quorum.NoTTL || r.Value != "t" {
			t.Errorf("read %+v", r)
		}
	})
}

// An answered write, and what a read tells of it afterwards.
var answeredWrites = []struct {
	name    string
	holds   bool // the masters hold k=a for ten seconds before
	request quorum.Request
	value   string // "" is nothing
	ttl     time.Duration
}{
	{"acquire", false, quorum.Request{Kind: quorum.Acquire, Token: "a", TTL: time.Minute}, "a", time.Minute},
	{"acquire without a ttl", false, quorum.Request{Kind: quorum.Acquire, Token: "a"}, "a", quorum.NoTTL},
	{"extend", true, quorum.Request{Kind: quorum.Extend, Token: "a", TTL: time.Minute}, "a", time.Minute},
	{"extend by less", true, quorum.Request{Kind: quorum.Extend, Token: "a", TTL: 5 * time.Second}, "a", 5 * time.Second},
	{"release", true, quorum.Request{Kind: quorum.Release, Token: "a"}, "", 0},
	{"DEL", true, quorum.Request{Kind: quorum.Remove}, "", 0},
	{"SET", true, quorum.Request{Kind: quorum.Write, Args: []string{"SET", "k", "b"}}, "b", quorum.NoTTL},
	{"SET of the same", true, quorum.Request{Kind: quorum.Write, Args: []string{"SET", "k", "a", "PX", ""}, TTLArg: 4, TTL: time.Minute}, "a", time.Minute},
	{"PERSIST", true, quorum.Request{Kind: quorum.Write, Args: []string{"PERSIST", "k"}}, "a", quorum.NoTTL},
	{"PEXPIRE", true, quorum.Request{Kind: quorum.Write, Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, TTL: 3 * time.Second}, "a", 3 * time.Second},
}

// Whichever masters have missed it, and though they are the first to answer.
func TestReadIsAsNewAsTheLastAnsweredWrite(t *testing.T) {
	for _, n := range []int{1, 3, 5} {
		for behind := range 1 << n {
			if bits.OnesCount(uint(behind)) > n-(n/2+1) {
				continue
			}
			inWorld(t, n, func(w *world) {
				for _, c := range answeredWrites {
					w.missed(c.request, c.holds, behind)
					for _, valueOnly := range []bool{false, true} {
						r := w.ask(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: valueOnly})
						if w.want(r, quorum.Won); r.Value != c.value || !valueOnly && !about(r.TTL, c.ttl) {
							t.Errorf("%s, %d masters, those behind are %b: read %+v", c.name, n, behind, r)
						}
					}
				}
			})
		}
	}
}

// What it cannot know then it does not tell: no older value, and no longer ttl.
func TestReadWithAMasterDownTellsNothingOlder(t *testing.T) {
	for _, n := range []int{3, 5} {
		for behind := range 1 << n {
			if bits.OnesCount(uint(behind)) > n-(n/2+1) {
				continue
			}
			for down := range n {
				if behind>>down&1 == 1 {
					continue
				}
				inWorld(t, n, func(w *world) {
					for _, c := range answeredWrites {
						w.missed(c.request, c.holds, behind)
						w.down(down + 1)
						for _, valueOnly := range []bool{false, true} {
							r := w.ask(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: valueOnly})
							// Of those that are there, the ones that are not behind are a quorum.
							known := bits.OnesCount(uint(behind)) < n-(n/2+1)
							longer := c.ttl != quorum.NoTTL && (r.TTL == quorum.NoTTL || r.TTL > c.ttl)
							switch {
							case r.Decision != quorum.Won && known, r.Decision == quorum.Won && r.Value != c.value,
								!valueOnly && longer, !valueOnly && known && !about(r.TTL, c.ttl):
								t.Errorf("%s, %d masters, %d is down, those behind are %b: read %+v", c.name, n, down+1, behind, r)
							}
						}
						w.up(down + 1)
					}
				})
			}
		}
	}
}

// missed makes an answered write that some masters, which then are the first to answer,
// have missed.
func (w *world) missed(r quorum.Request, holds bool, behind int) {
	w.t.Helper()
	for _, m := range w.masters {
		if m.forget("k"); holds {
			m.put("k", "a", 10*time.Second)
		}
	}
	before := make([]fakeData, len(w.masters))
	for i, m := range w.masters {
		before[i] = m.copy()
	}
	r.Key = "k"
	w.want(w.ask(r), quorum.Won)
	w.settle()
	for i, m := range w.masters {
		m.set(func(m *fakeMaster) {
			if m.lag = 5 * ms; behind>>i&1 == 1 {
				m.lag, m.data = 0, before[i]
				m.keys = m.data[m.using]
			}
		})
	}
}

// about tells that a ttl is what is left, some seconds later, of another.
func about(got, ttl time.Duration) bool { return got <= ttl && got >= ttl-2*time.Second }

// The first quorum is enough where nothing that is still to come could matter.
func TestReadWaitsForNobodyWhereAQuorumAgrees(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		w.acquire("k", "a", time.Minute)
		w.settle()
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 100 * ms }) }, 4, 5)
		w.masters[2].put("k", "a", time.Minute+400*ms)
		began := time.Now()
		w.want(w.read("k"), quorum.Won)
		if took := time.Since(began); took >= 100*ms {
			t.Errorf("it took %v", took)
		}
		time.Sleep(time.Second)
		// A fourth that agrees with two is enough for the third, which does not.
		w.masters[2].put("k", "a", time.Second)
		w.masters[3].set(func(m *fakeMaster) { m.lag = 50 * ms })
		began = time.Now()
		if r := w.read("k"); r.TTL < 50*time.Second {
			t.Errorf("read %+v", r)
		}
		if took := time.Since(began); took < 50*ms || took >= 100*ms {
			t.Errorf("it took %v", took)
		}
		// Nobody is waited for longer than a decision may take.
		w.each((*fakeMaster).freeze, 4, 5)
		began = time.Now()
		r := w.read("k")
		if w.want(r, quorum.Won); r.TTL > time.Second {
			t.Errorf("read %+v", r)
		}
		if took := time.Since(began); took > w.cfg.AcquireTimeout*11/10 {
			t.Errorf("it took %v", took)
		}
	})
}
