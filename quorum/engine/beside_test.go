package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// What goes in one batch with an acquire that is lost, and frees nothing of its key, does not keep
// it from being undone.

// k is another's on masters 1 and 2, and missing on 3. While each lane waits for a batch, A asks
// for k, and behind that something else is asked, so that the two go in one batch.
func lostAcquireWith(t *testing.T, behind ...quorum.Request) (left string) {
	inWorld(t, 3, func(w *world) {
		time.Sleep(3 * time.Second)
		w.masters[0].put("k", "x", time.Minute)
		w.masters[1].put("k", "x", time.Minute)
		w.delayed(20*ms, 1, 2, 3)
		other := w.put(quorum.Request{Kind: quorum.Read, Key: "other"})
		synctest.Wait()
		time.Sleep(5 * ms)
		a := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute})
		var list []*waiter
		for _, r := range behind {
			list = append(list, w.put(r))
		}
		synctest.Wait()
		w.delayed(2*ms, 1, 2, 3)
		other.wait(t)
		w.want(a.wait(t), quorum.Contended)
		for _, b := range list {
			b.wait(t)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		left = w.masters[2].value("k")
	})
	return left
}

func TestLostAcquireIsUndoneBesideAScriptThatOnlyReads(t *testing.T) {
	if left := lostAcquireWith(t); left != "" {
		t.Errorf("alone: master 3 holds %q", left)
	}
	if left := lostAcquireWith(t, runOf(readsOnly, "k")); left != "" {
		t.Errorf("beside a script that reads k: master 3 holds %q of an acquire that was answered no", left)
	}
}

func TestLostAcquireIsUndoneBesideWhatFreesOtherKeys(t *testing.T) {
	for name, kind := range map[string]quorum.Kind{"releases": quorum.Release, "removals": quorum.Remove} {
		t.Run(name, func(t *testing.T) {
			n := 0
			for range 20 {
				var behind []quorum.Request
				for i := range 300 {
					behind = append(behind, quorum.Request{Kind: kind, Key: fmt.Sprintf("other%d", i), Token: fmt.Sprintf("t%d", i)})
				}
				if lostAcquireWith(t, behind...) != "" {
					n++
				}
			}
			if n > 0 {
				t.Errorf("in %d of 20 rounds master 3 holds what an acquire has left that was answered no, beside 300 %s of other keys", n, name)
			}
		})
	}
}

// All masters stall for 400 ms: A, who asks for k, and what is asked behind A are told NOQUORUM.
// SET NX is carried out when the masters go on, and what came too late behind it is not. Then k
// is nobody's, and C gets it.
func lateAcquireWith(t *testing.T, behind ...quorum.Request) {
	t.Helper()
	inWorld(t, 3, func(w *world) {
		time.Sleep(3 * time.Second)
		w.lagging(20*ms, 1, 2, 3)
		other := w.put(quorum.Request{Kind: quorum.Read, Key: "other"})
		synctest.Wait()
		time.Sleep(5 * ms)
		late := []*waiter{w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute})}
		for _, r := range behind {
			late = append(late, w.put(r))
		}
		synctest.Wait()
		w.lagging(400*ms, 1, 2, 3)
		other.wait(t)
		for _, l := range late {
			w.want(l.wait(t), quorum.Unavailable)
		}
		time.Sleep(500 * ms)
		w.lagging(0, 1, 2, 3)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		w.wantValues("k", "", "", "")
		w.want(w.acquire("k", "c", time.Minute), quorum.Won)
	})
}

func TestLateAcquireIsUndoneBeforeWhatIsTooLate(t *testing.T) {
	for name, behind := range map[string][]quorum.Request{
		"nothing": nil,
		"DEL":     {{Kind: quorum.Remove, Key: "k"}},
		"SET":     {{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "b"}}},
		"flushes": {{Kind: quorum.Survey, Args: []string{"FLUSHDB"}}, {Kind: quorum.Survey, Args: []string{"FLUSHALL"}}},
	} {
		t.Run(name, func(t *testing.T) { lateAcquireWith(t, behind...) })
	}
}

// In one of some rounds the hashes of other keys met that of k.
func TestLateAcquireIsUndoneBesideReleasesOfOtherKeys(t *testing.T) {
	var behind []quorum.Request
	for i := range 300 {
		behind = append(behind, quorum.Request{Kind: quorum.Release, Key: fmt.Sprintf("other%d", i), Token: fmt.Sprintf("t%d", i)})
	}
	for range 10 {
		lateAcquireWith(t, behind...)
	}
}

// Who counts the keys, as an exporter does, frees none.
func TestLostAcquireIsUndoneBesideASurvey(t *testing.T) {
	if left := lostAcquireWith(t, quorum.Request{Kind: quorum.Survey, Args: []string{"DBSIZE"}}); left != "" {
		t.Errorf("beside DBSIZE master 3 holds %q of an acquire that was answered no", left)
	}
}

// SETNX k a, without a ttl: the answer to its second step comes too late, which went in one batch
// with a script that reads k, and the client hears NOQUORUM. What it leaves is on all masters, for
// ever.
func TestSecondStepIsUndoneBesideAScriptThatOnlyReads(t *testing.T) {
	notInstrumented(t)
	reads := runOf(readsOnly, "k")
	for name, behind := range map[string]*quorum.Request{"nothing": nil, "script that reads": &reads} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				time.Sleep(3 * time.Second)
				w.delayed(120*ms, 1, 2, 3)
				other := w.put(quorum.Request{Kind: quorum.Read, Key: "other"})
				synctest.Wait()
				time.Sleep(10 * ms)
				a := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a"})
				synctest.Wait()
				w.delayed(60*ms, 1, 2, 3) // of the batch that is sent at 120: the first step
				other.wait(t)
				time.Sleep(30 * ms)
				if behind != nil {
					w.put(*behind) // at 150, which goes with the batch of 180, as the second step does
				}
				synctest.Wait()
				w.delayed(90*ms, 1, 2, 3) // of that batch
				w.want(a.wait(t), quorum.Unavailable)
				w.delayed(0, 1, 2, 3)
				time.Sleep(5 * time.Second)
				w.wantValues("k", "", "", "")
				time.Sleep(5 * w.cfg.MaxTTL) // three times max-ttl and a half is promised
				w.wantValues("k", "", "", "")
			})
		})
	}
}
