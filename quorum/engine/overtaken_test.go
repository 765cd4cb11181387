package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// together has masters be sent what is asked in one batch, which they carry out and answer too
// late. It returns what they hold when all is settled.
func (w *world) together(asked ...quorum.Request) (held [3]string) {
	w.t.Helper()
	var waiters []*waiter
	w.delayed(20*ms, 1, 2, 3)
	busy := w.put(quorum.Request{Kind: quorum.Read, Key: "other"})
	time.Sleep(5 * ms) // it has arrived
	for _, r := range asked {
		r.Key = "k"
		waiters = append(waiters, w.put(r))
	}
	w.delayed(w.cfg.AcquireTimeout+50*ms, 1, 2, 3)
	busy.wait(w.t)
	for _, a := range waiters {
		w.want(a.wait(w.t), quorum.Unavailable)
	}
	w.delayed(0, 1, 2, 3)
	time.Sleep(2 * time.Second)
	for i, m := range w.masters {
		held[i] = m.value("k")
	}
	return held
}

func setOf(value string, ttl time.Duration) quorum.Request {
	r := quorum.Request{Kind: quorum.Write, Args: []string{"SET", "k", value}}
	if ttl != 0 {
		r.Args, r.TTLArg, r.TTL = append(r.Args, "PX", ""), 4, ttl
	}
	return r
}

// An acquire, or a SET, and another SET behind it, are answered too late together.
func TestWhatIsLostIsNotPutBackToWhatWasLostBeforeIt(t *testing.T) {
	lock := quorum.Request{Kind: quorum.Acquire, Token: "a", TTL: time.Minute}
	for name, asked := range map[string][]quorum.Request{
		"a lock and a SET":                  {lock, setOf("b", 0)},
		"a lock and a SET that ends sooner": {lock, setOf("b", 30*time.Second)},
		"a lock and a SET that ends later":  {lock, setOf("b", 2*time.Minute)},
		"a lock and two SETs":               {lock, setOf("b", time.Minute), setOf("c", time.Minute)},
		"a lock and a SET of its token":     {lock, setOf("a", time.Minute)},
		"a lock and a number":               {{Kind: quorum.Acquire, Token: "1", TTL: time.Minute}, setOf("2", time.Minute)},
		"three SETs":                        {setOf("a", time.Minute), setOf("b", time.Minute), setOf("c", 0)},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				if held := w.together(asked...); held != [3]string{} {
					t.Errorf("the masters hold %q of what was answered NOQUORUM", held)
				}
				w.want(w.acquire("k", "z", time.Minute), quorum.Won)
			})
		})
	}
}

// What is put back is put back to what others hold, though it be of the same token, and end
// at the same time.
func TestWhatIsLostIsPutBackToWhatWasHeldBeforeIt(t *testing.T) {
	lock := quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}
	for name, asked := range map[string][]quorum.Request{
		"a SET":            {setOf("b", time.Minute)},
		"a lock and a SET": {lock, setOf("b", time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.ask(lock), quorum.Won)
				if held := w.together(asked...); held != [3]string{"a", "a", "a"} {
					t.Errorf("a is held, and the masters hold %q", held)
				}
			})
		})
	}
}
