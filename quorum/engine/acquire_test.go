package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

func TestGrantThatComesTooLateDoesNotWin(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 300 * ms }) }, 2, 3)
		began := time.Now()
		r := w.acquire("k", "t", time.Minute)
		w.want(r, quorum.Unavailable)
		if took := time.Since(began); took < 250*ms || took > 275*ms {
			t.Errorf("it took %v to say so", took)
		}
		time.Sleep(700 * ms)
		w.wantValues("k", "", "", "")
		for _, m := range w.masters {
			if got := m.commands("SET k"); len(got) != 1 {
				t.Errorf("%s carried out %q", m.name, got)
			}
		}
	})
}

func TestDecisionIsNotLaterThanHalfOfTheTTL(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 60 * ms }) }, 1, 2, 3)
		w.want(w.acquire("k", "t", 100*ms), quorum.Unavailable)
		time.Sleep(time.Second)
		w.want(w.acquire("k2", "t", 130*ms), quorum.Won)
	})
}

// It is not the masters' fault, and the client is told what they can grant.
func TestTTLThatIsTooShortIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		for _, m := range w.masters {
			m.delay = 5 * ms
		}
		w.engine = w.start(w.cfg)
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
		short := func(r quorum.Result, d time.Duration) {
			t.Helper()
			if w.want(r, quorum.Unavailable); r.Shortest < d || r.Shortest > d+2*ms {
				t.Errorf("%v is said to be long enough", r.Shortest)
			}
		}
		short(w.extend("k", "t", ms), 20*ms)
		r := w.acquire("k2", "t", ms)
		short(r, 20*ms)
		w.settle()
		w.wantValues("k2", "", "", "")
		w.want(w.acquire("k2", "t", r.Shortest), quorum.Won)

		// Masters that hang are to blame themselves, also to who waits for another's attempt.
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 300 * ms }) }, 2, 3)
		first := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k3", Token: "1", TTL: time.Minute})
		second := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k3", Token: "2", TTL: ms})
		if r := first.wait(t); r.Decision != quorum.Unavailable || r.Shortest != 0 {
			t.Errorf("%+v", r)
		}
		if r := second.wait(t); r.Decision != quorum.Unavailable || r.Shortest != 0 {
			t.Errorf("%+v", r)
		}
		time.Sleep(10 * time.Second)

		// What wins no lock has all the time that there is.
		w.want(w.ask(quorum.Request{Kind: quorum.Write, Key: "k4", Args: []string{"SET", "k4", "v", "PX", ""}, TTLArg: 4, TTL: ms}), quorum.Unavailable)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 100 * ms }) }, 2, 3)
		time.Sleep(10 * time.Second)
		w.want(w.ask(quorum.Request{Kind: quorum.Write, Key: "k5", Args: []string{"SET", "k5", "v", "PX", ""}, TTLArg: 4, TTL: ms}), quorum.Won)

		// Without a quorum it is the masters' fault, and with a ttl that is long enough.
		if r := w.acquire("k6", "t", 1000*ms); r.Decision != quorum.Won {
			t.Errorf("%+v", r)
		}
		w.down(2, 3)
		if r := w.acquire("k7", "t", ms); r.Decision != quorum.Unavailable || r.Shortest != 0 {
			t.Errorf("%+v", r)
		}
	})
}

func TestExpiriesArePaddedAndReadsAreNot(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t", 30*time.Second), quorum.Won)
		w.want(w.extend("k", "t", 10*time.Second), quorum.Won)
		for _, m := range w.masters {
			if got := m.commands("SET"); len(got) != 1 || got[0] != "SET k t NX GET PX 30302" {
				t.Errorf("%s was told %q", m.name, got)
			}
			if got := m.commands("extend"); len(got) != 1 || got[0] != "extend k t 10102" {
				t.Errorf("%s was told %q", m.name, got)
			}
		}
		r := w.read("k")
		if want := clock.Unpad(10102 * ms); r.TTL != want {
			t.Errorf("the ttl reads %v, want %v", r.TTL, want)
		}
	})
}

func TestMastersBeforeSevenTellTheValueToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		w.masters[0].version, w.masters[1].version = "6.2.14", "5.0.1"
		w.engine = w.start(w.cfg)
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		r := w.acquire("k", "b", time.Minute)
		w.want(r, quorum.Contended)
		if !r.Exists || r.Value != "a" {
			t.Errorf("told %+v", r)
		}
		w.wantValues("k", "a", "a", "a")
		for i, m := range w.masters {
			if got := len(m.commands("acquire")) > 0; got != (i < 2) {
				t.Errorf("%s was asked by the script: %v", m.name, got)
			}
		}
	})
}

// Who asks for the value that is there is told one that a quorum names, or that nobody
// knows: nil would say that there was none.
func TestRefusalTellsOnlyWhatAQuorumNames(t *testing.T) {
	for name, c := range map[string]struct {
		values [3]string
		down   int
		want   quorum.Decision
		value  string
	}{
		"three values":                       {[3]string{"a", "b", "c"}, 0, quorum.Split, ""},
		"two of three, by the last":          {[3]string{"a", "b", "a"}, 0, quorum.Contended, "a"},
		"two values, and one that is down":   {[3]string{"a", "b", ""}, 3, quorum.Split, ""},
		"a value on one, and one is down":    {[3]string{"a", "", ""}, 3, quorum.Split, ""},
		"a value on one":                     {[3]string{"", "", "c"}, 0, quorum.Won, ""},
		"a value that it asks to set on two": {[3]string{"t", "b", "t"}, 0, quorum.Contended, "t"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				for i, value := range c.values {
					if value != "" {
						w.masters[i].put("k", value, time.Minute)
					}
				}
				if c.down > 0 {
					w.down(c.down)
				}
				w.masters[2].set(func(m *fakeMaster) { m.delay = ms })
				r := w.ask(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute, TellsValue: true})
				if w.want(r, c.want); r.Exists != (c.value != "") || r.Value != c.value {
					t.Errorf("told %+v", r)
				}
			})
		})
	}
}

func TestKeyOfAnotherTypeIsTaken(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for _, m := range w.masters {
			m.set(func(m *fakeMaster) { m.keys["k"] = fakeKey{hash: true} })
		}
		r := w.acquire("k", "t", time.Minute)
		w.want(r, quorum.Contended)
		for name, r := range map[string]quorum.Result{
			"acquire": r, "release": w.release("k", "t"), "extend": w.extend("k", "t", time.Minute),
			"get": w.ask(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: true}),
		} {
			if r.Reply.Kind != quorum.FailureReply || !strings.HasPrefix(r.Reply.Str, "WRONGTYPE ") {
				t.Errorf("%s is told %+v", name, r)
			}
		}
		if r := w.read("k"); !r.Exists || r.Type != "hash" || r.TTL != quorum.NoTTL {
			t.Errorf("read %+v", r)
		}
		w.want(w.ask(quorum.Request{Kind: quorum.Remove, Key: "k"}), quorum.Won)
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
	})
}
