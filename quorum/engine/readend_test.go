package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/registry"
)

// Where it is known how its client counts, a key is there for so long, whatever its type, and then as if
// it were not, while masters hold it and refuse it to others.
func TestKeyIsThereForAsLongAsItsClientCounts(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		const ttl = 30 * time.Second
		w.want(w.acquire("k", "t", ttl), quorum.Won)
		asked := time.Now()
		read := func(valueOnly bool) quorum.Result {
			return w.ask(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: valueOnly, Counted: quorum.Counted{TTL: ttl, Left: ttl - time.Since(asked)}})
		}
		for _, spent := range []time.Duration{0, ms, ttl / 2, ttl - 20*ms} {
			time.Sleep(time.Until(asked.Add(spent)))
			r := read(false)
			if left := ttl - time.Since(asked); !r.Exists || r.Value != "t" || (r.TTL-left).Abs() > 5*ms {
				t.Errorf("after %v: %+v, want %v", spent, r, left)
			}
		}
		time.Sleep(time.Until(asked.Add(ttl + ms)))
		if r := read(false); r.Decision != quorum.Won || r.Exists || r.Value != "" || r.Type != "" {
			t.Errorf("over, it is %+v", r)
		}
		if r := read(true); !r.Exists {
			t.Error("nobody has asked for its ttl")
		}
		if r := w.read("k"); !r.Exists || r.TTL > 302*ms {
			t.Errorf("to who does not know its ttl it is %+v", r)
		}
		w.want(w.acquire("k", "u", ttl), quorum.Contended)
		time.Sleep(310 * ms)
		w.want(w.acquire("k", "u", ttl), quorum.Won)
		// The one before, which this reader still knows of, did not end so late.
		if r := read(false); !r.Exists || r.Value != "u" {
			t.Errorf("somebody else's is %+v", r)
		}
	})
}

// A short lock of somebody else's, which ends by its master when the allowance for the one that is known
// would: only its value tells that it is another.
func TestSomebodyElsesLockIsNotTakenForOneThatIsOver(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		const short = 2 * time.Second
		w.want(w.acquire("k", "u", short), quorum.Won)
		known := quorum.Counted{TTL: time.Hour, Left: clock.Pad(short) - clock.Drift(time.Hour), Sign: uint64(registry.SignOf("t"))}
		if r := w.ask(quorum.Request{Kind: quorum.Read, Key: "k", Counted: known}); !r.Exists || r.Value != "u" || (r.TTL-short).Abs() > 5*ms {
			t.Errorf("it is %+v", r)
		}
		known.Sign = uint64(registry.SignOf("u"))
		if r := w.ask(quorum.Request{Kind: quorum.Read, Key: "k", Counted: known}); r.Exists {
			t.Errorf("one that is over is %+v", r)
		}
	})
}
