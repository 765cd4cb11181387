package proxy

import (
	"testing"
	"testing/synctest"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

const (
	unlock = `EVAL "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end" 1 lock t` + "\r\n"
	count  = `EVAL "redis.call('hincrby', KEYS[1], 'n', 1)" 1 h` + "\r\n"
)

// answer is a quorum's yes to the oldest request about a key.
func answer(r *rig, key string) {
	r.t.Helper()
	won := won
	won.Script = &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}}
	r.engine.answer(r.t, key, won)
	synctest.Wait()
}

// TestWhatChangesAKeyComesBehindWhatListsAllKeys: two masters are asked which they have.
func TestWhatChangesAKeyComesBehindWhatListsAllKeys(t *testing.T) {
	none := quorum.SurveyAnswer{Given: true, Server: "1", Reply: quorum.ScriptReply{Elems: []quorum.ScriptReply{
		{Reply: quorum.Reply{Kind: quorum.BulkReply, Str: "0"}}, {},
	}}}
	page := quorum.Result{Decision: quorum.Won, Answers: []quorum.SurveyAnswer{none, none, none}, Masters: 3, Needed: 2}
	for _, list := range []string{"KEYS *\r\n", "SCAN 0\r\n"} {
		for _, change := range []string{"acquire c\r\n", "write c\r\n", "DEL c\r\n", unlock, count, "extendmore c\r\n"} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{Commands: commands.Options{AllowDangerous: true}})
				go r.dial().send(list + "GET a\r\n" + change)
				for _, want := range []string{"survey: read:a", "survey: read:a survey:"} {
					synctest.Wait()
					if got := r.engine.keys(); got != want {
						t.Errorf("%sput before all keys are listed: %s, want %s", change, got, want)
					}
					r.engine.answer(t, "", page)
				}
				synctest.Wait()
				if r.put() != 4 {
					t.Errorf("%sput when all keys are listed: %s", change, r.engine.keys())
				}
				r.end()
			})
		}
	}
}

// TestAFlushComesBehindAllAndAllBehindIt: what is about another database goes to the masters its
// own way.
func TestAFlushComesBehindAllAndAllBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Commands: commands.Options{AllowDangerous: true}})
		r.dial().send("write a\r\nSELECT 1\r\nFLUSHALL\r\nSELECT 2\r\nGET b\r\nping\r\n")
		for _, c := range []struct{ put, next string }{
			{"write:a", "a"},
			{"write:a survey:", ""},
			{"write:a survey: read:b", "b"},
		} {
			synctest.Wait()
			if got := r.engine.keys(); got != c.put {
				t.Errorf("put: %s, want %s", got, c.put)
			}
			answer(r, c.next)
		}
		r.end()
	})
}
