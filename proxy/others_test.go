package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// What a script has done to keys that it was not given is known of these as of its own: who waits for
// one is tried at once, and who has changed it last is noted.
func TestWhatAScriptHasDoneToOtherKeysIsKnown(t *testing.T) {
	for name, result := range map[string]quorum.Result{
		"yes":                              {Decision: quorum.Won},
		"no, and it has removed something": {Decision: quorum.Contended, Tidied: true},
	} {
		t.Run(name, func(t *testing.T) {
			result.Script = &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: 1}}
			result.Others = []string{"{k}:x"}
			synctest.Test(t, func(t *testing.T) { othersAreKnown(t, result) })
		})
	}
}

func othersAreKnown(t *testing.T, result quorum.Result) {
	r, l := newWaitingRig(t, time.Minute)
	r.engine.mu.Lock()
	puts := r.engine.auto
	r.engine.auto = func(e *fakeEngine, a asked) {
		if a.request.Kind != quorum.Run {
			puts(e, a)
			return
		}
		l.mu.Lock()
		delete(l.held, "{k}:x")
		l.mu.Unlock()
		a.asker.Answer(result).Flush()
	}
	r.engine.mu.Unlock()
	holder, waits, other := r.dial(), r.dial(), r.dial()
	holder.tries("{k}:x", "a", 50_000)
	holder.gets(ok, roundTrip)
	waits.tries("{k}:x", "b", 50_000)
	time.Sleep(5 * roundTrip)
	other.send("EVAL \"return redis.call('del', KEYS[1] .. ':x')\" 1 {k}\r\n")
	other.expect(":1\r\n")
	waits.gets(ok, 5*roundTrip)
	result.Decision = quorum.Won
	other.send("EVAL \"return redis.call('hset', KEYS[1] .. ':x', 'f', 'v')\" 1 {k}\r\n")
	other.expect(":1\r\n")
	for _, key := range []string{"{k}", "{k}:x"} {
		if h, known := r.server.seen.Last(0, key); !known || h.What != registry.Written || h.By.ID != 3 {
			t.Errorf("of %s it is known %v: %+v", key, known, h)
		}
	}
	r.end()
}

// Who has such a key from his last reading is told before the script's client has his answer.
func TestWhatAScriptHasDoneToOtherKeysIsToldBeforeItsAnswer(t *testing.T) {
	for name, result := range map[string]quorum.Result{
		"yes":                              {Decision: quorum.Won},
		"no, and it has removed something": {Decision: quorum.Contended, Tidied: true},
	} {
		t.Run(name, func(t *testing.T) {
			withTrackers(t, func(tr *trackers) {
				c, writer := tr.tracks(""), tr.dial()
				tr.keeps(c, "{k}:x")
				writer.send("EVAL \"return redis.call('del', KEYS[1] .. ':x') - 1\" 1 {k}\r\n")
				synctest.Wait()
				result.Script, result.Others = &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply}}, []string{"{k}:x"}
				go tr.engine.answer(t, "{k}", result)
				c.expect(invalid("{k}:x"))
				writer.expect(":0\r\n")
			})
		})
	}
}
