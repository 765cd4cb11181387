package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func setOf(value string, ttl time.Duration) quorum.Request {
	r := quorum.Request{Kind: quorum.Write, Args: []string{"SET", "k", value}}
	if ttl != 0 {
		r.Args, r.TTLArg, r.TTL = append(r.Args, "PX", ""), 4, ttl
	}
	return r
}

// besideOnMaster3 has a first request be lost that master 3 carries out, with others behind it
// in one batch, and returns what master 3 holds in the end. Masters 1 and 2 hold another's lock.
func besideOnMaster3(t *testing.T, first quorum.Request, behind ...quorum.Request) (left string) {
	t.Helper()
	return besideAsMaster2Hangs(t, 2*ms, first, behind...)
}

// besideAsMaster2Hangs is besideOnMaster3 where master 2 answers after a while only.
func besideAsMaster2Hangs(t *testing.T, hangs time.Duration, first quorum.Request, behind ...quorum.Request) (left string) {
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
		w.delayed(2*ms, 1, 3)
		w.delayed(hangs, 2)
		busy.wait(t)
		if got := asked[0].wait(t); got.Decision == quorum.Won {
			t.Fatalf("what one of three masters carries out is %v", got.Decision)
		}
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
		"a script, and an EXPIRE GT":       {lockOf("k", "a", 60_000), {Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", "1", "GT"}}},
		"a script, and another's step":     {lockOf("k", "a", 60_000), runOf(renewStep, "k", "b", "c", "d", "e")},
		"a script, and a transaction":      {lockOf("k", "a", 60_000), runOf(tellStep, "k", "SET", "k", "b", "NX", "PX", "60000", "GET", "k")},
		"a script, and one that looks":     {lockOf("k", "a", 60_000), runOf(tellStep.ReadOnly(), "k", "GET", "k")},
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

// While a master hangs, nobody knows that the lost script was carried out by a minority. Who is
// told no behind it, and names nothing that it does, does not rely on it.
func TestWhatIsLostAsAMasterHangsIsTakenBackBesideStrangers(t *testing.T) {
	for name, c := range map[string][2]quorum.Request{
		"by the same script": {lockOf("k", "a", 60_000), lockOf("k", "b", 60_000)},
		"as he lets go":      {lockOf("k", "a", 60_000), runOf(freeScript, "k", "b")},
	} {
		t.Run(name, func(t *testing.T) {
			if left := besideAsMaster2Hangs(t, 300*ms, c[0], c[1]); left != "" {
				t.Errorf("master 3 holds %q of what was answered with no", left)
			}
		})
	}
}
