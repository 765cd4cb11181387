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

// What is put back is put back to what others hold, though it be of the same token.
func TestWhatIsLostIsPutBackToWhatWasHeldBeforeIt(t *testing.T) {
	lock := quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}
	set := setOf("b", time.Minute)
	for name, prepare := range map[string]func(w *world) []quorum.Request{
		"a SET": func(w *world) []quorum.Request {
			w.together(lock, set)
			w.want(w.ask(lock), quorum.Won)
			return []quorum.Request{set}
		},
		"a lock and a SET": func(w *world) []quorum.Request {
			w.want(w.ask(lock), quorum.Won)
			return []quorum.Request{lock, set}
		},
		"a lock, another's through another proxy, and a SET": func(w *world) []quorum.Request {
			for i := range w.masters {
				w.at(i+1, writeScript, func(m *fakeMaster, _ []string) {
					m.keys["k"] = fakeKey{value: "a", until: m.now() + int64(2*time.Minute)}
				})
			}
			return []quorum.Request{lock, set}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				if held := w.together(prepare(w)...); held != [3]string{"a", "a", "a"} {
					t.Errorf("a is held, and the masters hold %q", held)
				}
			})
		})
	}
}

// besideOnMaster3 has a first request be lost that master 3 carries out, with others behind it
// in one batch, and returns what master 3 holds in the end. Masters 1 and 2 hold another's lock.
func besideOnMaster3(t *testing.T, first quorum.Request, behind ...quorum.Request) (left string) {
	t.Helper()
	inWorld(t, 3, func(w *world) {
		for _, m := range w.masters[:2] {
			m.put("k", "x", time.Minute)
			if first.Script == takeHash {
				m.set(func(m *fakeMaster) { m.keys["k"] = fakeKey{value: "x=1", hash: true, until: m.keys["k"].until} })
			}
		}
		w.delayed(20*ms, 1, 2, 3)
		busy := w.put(quorum.Request{Kind: quorum.Read, Key: "other"})
		time.Sleep(5 * ms) // it has arrived
		asked := []*waiter{w.put(first)}
		for _, r := range behind {
			asked = append(asked, w.put(r))
		}
		w.delayed(2*ms, 1, 2, 3)
		busy.wait(t)
		w.want(asked[0].wait(t), quorum.Contended)
		for _, a := range asked[1:] {
			a.wait(t)
		}
		time.Sleep(5 * time.Second)
		left = w.masters[2].value("k")
	})
	return left
}

// Many wait for a lock, and are told no, one behind the other. So is who lets go of a lock that
// is not his.
func TestWhatIsLostIsTakenBackBesideWhatDidNothing(t *testing.T) {
	lock := func(token string) quorum.Request {
		return quorum.Request{Kind: quorum.Acquire, Key: "k", Token: token, TTL: time.Minute}
	}
	release := quorum.Request{Kind: quorum.Release, Key: "k", Token: "b"}
	for name, c := range map[string][]quorum.Request{
		"a script, and another's":          {lockOf("k", "a", 60_000), lockOf("k", "b", 60_000), lockOf("k", "c", 60_000)},
		"a script, and another's lock":     {lockOf("k", "a", 60_000), lock("b")},
		"a script, and another's release":  {lockOf("k", "a", 60_000), release},
		"a script, and one that reads":     {lockOf("k", "a", 60_000), runOf(readsOnly, "k")},
		"a hash, and another's":            {runOf(takeHash, "k", "a", "60000"), runOf(takeHash, "k", "b", "60000")},
		"a hash, and another's end":        {runOf(takeHash, "k", "a", "60000"), runOf(freeHash, "k", "b", "60000")},
		"a lock, and another's script":     {lock("a"), lockOf("k", "b", 60_000)},
		"a lock, and another's release":    {lock("a"), release},
		"a lock, and another's lock":       {lock("a"), lock("b")},
		"a script, and a SET XX GET of k2": {lockOf("k", "a", 60_000), {Kind: quorum.Write, Key: "k2", Args: []string{"SET", "k2", "v", "XX"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if left := besideOnMaster3(t, c[0], c[1:]...); left != "" {
				t.Errorf("master 3 holds %q of what was answered with no", left)
			}
		})
	}
}

// A SET that was answered is told from the lost script before it by its place alone: it has
// made the same of the key.
func TestWhatWasAnsweredBehindALostScriptIsNotPutBackWithIt(t *testing.T) {
	set := setOf("a", time.Minute)
	set.Key = "k"
	if left := besideOnMaster3(t, lockOf("k", "a", 60_000), set); left != "a" {
		t.Errorf("master 3 holds %q, where a was set by all", left)
	}
}
