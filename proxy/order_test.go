package proxy

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

const (
	unlock    = `EVAL "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end" 1 lock t` + "\r\n"
	unlockAll = `EVAL "redis.call('del', KEYS[1]) redis.call('publish', 'free', KEYS[1])" 1 %s` + "\r\n"
	count     = `EVAL "redis.call('hincrby', KEYS[1], 'n', 1)" 1 h` + "\r\n"
)

// TestWhatFreesALockComesBehindWhatWasWritten, in whatever words either is asked for.
func TestWhatFreesALockComesBehindWhatWasWritten(t *testing.T) {
	transaction := "MULTI\r\nDEL lock\r\nINCR m\r\nEXEC\r\n"
	for _, written := range []struct{ send, put string }{
		{"write h\r\n", "write:h"},
		{"HINCRBY h n 1\r\n", "script:h"},
		{"GETSET h v\r\n", "read:h"},
		{count, "script:h"},
		{"MULTI\r\nHINCRBY h n 1\r\nSET h2 v PX 9000\r\nEXEC\r\n", "script:h"},
		{"MULTI\r\nHINCRBY h n 1\r\nDEL h2\r\nEXEC\r\n", "script:h"},
	} {
		for _, freed := range []struct{ send, put string }{
			{"DEL lock\r\n", "remove:lock"},
			{"UNLINK lock\r\n", "remove:lock"},
			{"EXPIRE lock 0\r\n", "remove:lock"},
			{"DELEX lock IFEQ t\r\n", "release:lock"},
			{unlock, "release:lock"},
			{fmt.Sprintf(unlockAll, "lock"), "script:lock"},
			{"MULTI\r\nDEL lock\r\nEXEC\r\n", "remove:lock"},
			{transaction, "script:lock"},
		} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{})
				c := r.dial()
				go c.send(written.send + freed.send + "acquire other\r\n")
				synctest.Wait()
				if got := r.engine.keys(); got != written.put+" acquire:other" {
					t.Errorf("%sput before that is decided: %s", written.send+freed.send, got)
				}
				answer(r, "h")
				if written.put == "read:h" {
					answer(r, "h")
				}
				if got := r.engine.keys(); !strings.HasSuffix(got, " "+freed.put) {
					t.Errorf("%sput when that is decided: %s", written.send+freed.send, got)
				}
				r.end()
			})
		}
	}
}

// answer is a quorum's yes to the oldest request about a key.
func answer(r *rig, key string) {
	r.t.Helper()
	won := won
	won.Script = &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}}
	r.engine.answer(r.t, key, won)
	synctest.Wait()
}

// TestLocksAloneWaitForNoOther: those of many clients may be asked for over one connection.
func TestLocksAloneWaitForNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("acquire a\r\nDEL b\r\n" + unlock + "GET c\r\nacquire d\r\n")
		c.send(fmt.Sprintf(unlockAll, "f") + fmt.Sprintf(unlockAll, "g"))
		synctest.Wait()
		want := "acquire:a remove:b release:lock read:c acquire:d script:f script:g"
		if got := r.engine.keys(); got != want {
			t.Errorf("put before any answer: %s, want %s", got, want)
		}
		r.end()
	})
}

func TestWhatIsBarredKeepsItsKeyUndecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("write h\r\nDEL lock\r\nGET lock\r\nping\r\n")
		synctest.Wait()
		if got := r.engine.keys(); got != "write:h" {
			t.Fatalf("put before the write is decided: %s", got)
		}
		r.engine.answer(t, "h", won)
		synctest.Wait()
		if got := r.engine.keys(); got != "write:h remove:lock" {
			t.Fatalf("put before the lock is free: %s", got)
		}
		r.engine.answer(t, "lock", won)
		synctest.Wait()
		r.engine.answer(t, "lock", won)
		c.expect("$1\r\nh\r\n:1\r\n$-1\r\n+PONG\r\n")
		r.end()
	})
}

// TestWhatIsBarredOutlivesItsClient, and a panic in what it is behind.
func TestWhatIsBarredOutlivesItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("write h\r\nDEL a b\r\n")
		synctest.Wait()
		c.nc.Close()
		r.server.conn(1).cut()
		synctest.Wait()
		r.engine.answer(t, "h", won)
		if got := r.engine.keys(); got != "write:h remove:a remove:b" {
			t.Errorf("put when the write of a client that is gone is decided: %s", got)
		}
		r.dial().send("panicrender h\r\nDEL c\r\n")
		synctest.Wait()
		r.engine.answer(t, "h", won)
		if got := r.engine.keys(); !strings.HasSuffix(got, "write:h remove:c") {
			t.Errorf("put after a panic: %s", got)
		}
		r.end()
	})
}

// TestNothingThatFreesALockPassesAWrite of its connection, in whatever order all that is
// asked for is decided, and all is put.
func TestNothingThatFreesALockPassesAWrite(t *testing.T) {
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			r := newRig(t, Config{})
			c := r.dial()
			before := map[string]int{} // writes that are to be decided first
			var lines strings.Builder
			writes, all := 0, 0
			for all < 40 {
				key := fmt.Sprint("k", all)
				switch rnd.IntN(4) {
				case 0:
					fmt.Fprintf(&lines, "write w%d\r\n", writes)
					writes++
				case 1:
					fmt.Fprintf(&lines, "acquire %s\r\n", key)
				case 2:
					fmt.Fprintf(&lines, "DEL %s %sb\r\n", key, key)
					before[key], before[key+"b"] = writes, writes
					all++
				case 3:
					fmt.Fprintf(&lines, unlockAll, key)
					before[key] = writes
				}
				all++
			}
			go c.send(lines.String())
			go io.Copy(io.Discard, c.nc)
			synctest.Wait()
			decided := map[string]bool{}
			for seen := 0; len(r.engine.waiting) > 0; synctest.Wait() {
				for ; seen < len(r.engine.all); seen++ {
					for w := range before[r.engine.all[seen].Key] {
						if !decided[fmt.Sprint("w", w)] {
							t.Fatalf("seed %d: %s is put before w%d is decided, of\n%s", seed, r.engine.all[seen].Key, w, lines.String())
						}
					}
				}
				key := r.engine.waiting[rnd.IntN(len(r.engine.waiting))].request.Key
				decided[key] = true
				answer(r, key)
			}
			if len(r.engine.all) != all {
				t.Errorf("seed %d: %d requests are put, want %d", seed, len(r.engine.all), all)
			}
			r.end()
		})
	}
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
				r := newRig(t, Config{Commands: commands.Options{Users: everybodyOperates}})
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
		r := newRig(t, Config{Commands: commands.Options{Users: everybodyOperates}})
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
