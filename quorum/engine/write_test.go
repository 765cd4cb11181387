package engine

import (
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func (w *world) write(args ...string) quorum.Result {
	w.t.Helper()
	return w.ask(quorum.Request{Kind: quorum.Write, Key: args[1], Args: args})
}

func TestWriteIsWhatAQuorumAnsweredAlike(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		r := w.write("SET", "k", "v")
		if w.want(r, quorum.Won); r.Reply != (quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}) {
			t.Errorf("%+v", r.Reply)
		}
		r = w.write("SET", "k2", "v", "XX")
		if w.want(r, quorum.Won); r.Reply.Kind != quorum.NilReply {
			t.Errorf("%+v", r.Reply)
		}
		w.masters[2].put("k", "x", 0)
		r = w.write("SET", "k", "v2", "GET")
		if w.want(r, quorum.Won); r.Reply != (quorum.Reply{Kind: quorum.BulkReply, Str: "v"}) {
			t.Errorf("%+v", r.Reply)
		}
		// Redis's own error is an answer, if a quorum gives it.
		for _, m := range w.masters {
			m.set(func(m *fakeMaster) { m.keys["h"] = fakeKey{hash: true} })
		}
		r = w.write("SET", "h", "v", "GET")
		if w.want(r, quorum.Won); r.Reply.Kind != quorum.FailureReply || !strings.HasPrefix(r.Reply.Str, "WRONGTYPE") {
			t.Errorf("%+v", r.Reply)
		}
	})
}

func TestWriteThatMastersAnswerDifferentlyIsSplit(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for i, m := range w.masters {
			m.put("k", string("abc"[i]), 0)
		}
		w.want(w.write("SET", "k", "v", "GET"), quorum.Split)
		w.down(3)
		w.masters[1].put("k", "other", 0)
		w.want(w.write("SET", "k", "v", "GET"), quorum.Split)
		w.down(2)
		r := w.write("SET", "k", "v", "GET")
		if w.want(r, quorum.Unavailable); r.Voted != 1 || r.Needed != 2 || r.Masters != 3 {
			t.Errorf("%+v", r)
		}
	})
}

func TestWriteHasItsTTLPadded(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		args := []string{"SET", "k", "v", "PX", ""}
		w.want(w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: args, TTLArg: 4, TTL: 10 * time.Second}), quorum.Won)
		w.wantValues("k", "v", "v", "v")
		for _, m := range w.masters {
			if got := m.commands("SET"); len(got) != 1 || got[0] != "SET k v PX 10102" {
				t.Errorf("%s was told %q", m.name, got)
			}
		}
		if args[4] != "" {
			t.Error("the request was changed")
		}
		// A time that has passed: the key goes.
		past := w.now().Add(-time.Minute).UnixMilli()
		r := w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, At: past})
		if w.want(r, quorum.Won); r.Reply != (quorum.Reply{Kind: quorum.IntegerReply, Int: 1}) {
			t.Errorf("%+v", r.Reply)
		}
		w.wantValues("k", "", "", "")
	})
}

// A write that only a minority carried out is put back there: what was there
// before, for as long as it had.
func TestWriteOfAMinorityIsPutBack(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[2].put("k", "old", time.Minute)
		r := w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "new", "XX", "PX", ""}, TTLArg: 5, TTL: 10 * time.Minute})
		if w.want(r, quorum.Won); r.Reply.Kind != quorum.NilReply {
			t.Errorf("%+v", r.Reply)
		}
		w.settle()
		w.wantValues("k", "", "", "old")
		if left := w.masters[2].left("k"); left > time.Minute || left < time.Minute-time.Second {
			t.Errorf("%v are left", left)
		}

		// A master that held something else is set right by a write that stands.
		for i, m := range w.masters {
			m.put("differs", []string{"a", "a", "b"}[i], time.Minute)
		}
		r = w.write("SET", "differs", "new", "GET")
		if w.want(r, quorum.Won); r.Reply.Str != "a" {
			t.Errorf("%+v", r.Reply)
		}
		w.settle()
		w.wantValues("differs", "new", "new", "new")

		// Without a quorum, too; but what was written since is left alone.
		for _, m := range w.masters[:2] {
			answering(m, "EVALSHA", "-OOM command not allowed\r\n")
			m.set(func(m *fakeMaster) { m.delay = 20 * ms }) // the third is the first to vote
		}
		w.want(w.write("SET", "k", "new"), quorum.Unavailable)
		w.settle()
		w.wantValues("k", "", "", "old")
		if got := w.masters[2].commands("putback k "); len(got) != 2 {
			t.Errorf("the third master was told %q", got)
		}
		w.masters[2].set(func(m *fakeMaster) {
			m.after = func(args []string, m *fakeMaster) {
				if strings.HasPrefix(args[0], "EVAL") && args[1] == writeScript.SHA {
					m.keys["k"] = fakeKey{value: "newer"}
				}
			}
		})
		w.want(w.write("SET", "k", "new"), quorum.Unavailable)
		w.settle()
		w.wantValues("k", "", "", "newer")
	})
}

// Where a quorum answers an error, what a minority wrote is no lock.
func TestWriteOfAMinorityIsPutBackWhereTheQuorumHasAnError(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for _, m := range w.masters[:2] {
			m.set(func(m *fakeMaster) { m.keys["k"] = fakeKey{hash: true} })
		}
		r := w.write("SET", "k", "token", "GET")
		if w.want(r, quorum.Won); r.Reply.Kind != quorum.FailureReply {
			t.Errorf("%+v", r.Reply)
		}
		w.settle()
		if v := w.masters[2].value("k"); v != "" {
			t.Errorf("the third master holds %q", v)
		}
	})
}

// What another client's lost acquire has left is not this one's lock, whoever's life
// was prolonged.
func TestExpiryOfAnotherValueIsNoVote(t *testing.T) {
	for _, r := range []quorum.Request{
		{Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, TTL: time.Minute},
		{Args: []string{"PERSIST", "k"}},
	} {
		r.Kind, r.Key = quorum.Write, "k"
		inWorld(t, 3, func(w *world) {
			w.down(2)
			w.masters[0].put("k", "a", 20*time.Second)
			w.masters[2].put("k", "leftover", 10*time.Second)
			w.want(w.ask(r), quorum.Split)
			w.settle()
			for i, most := range map[int]time.Duration{0: 20 * time.Second, 2: 10 * time.Second} {
				if left := w.masters[i].left("k"); left < 0 || left > most {
					t.Errorf("%v: on m%d it lives for %v", r.Args, i+1, left)
				}
			}
			w.up(2)
			w.masters[1].put("k", "a", 10*time.Second)
			w.want(w.ask(r), quorum.Won)
			w.settle()
			if left := w.masters[2].left("k"); left < 0 || left > 10*time.Second {
				t.Errorf("%v: what was left lives for %v", r.Args, left)
			}
		})
	}
}

// An expiry that has passed by the masters' clocks is a removal, also of what a master
// holds that is away.
func TestExpiryThatHasPassedIsARemoval(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		w.down(3)
		past := func() quorum.Result {
			at := w.now().Add(-time.Second).UnixMilli()
			return w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, At: at})
		}
		for _, n := range []int64{1, 0} {
			if r := past(); r.Decision != quorum.Won || r.Reply != (quorum.Reply{Kind: quorum.IntegerReply, Int: n}) {
				t.Errorf("%+v, want the integer %d", r, n)
			}
		}
		w.up(3)
		w.wantValues("k", "", "", "")
	})
}

// That a key lives longer again costs nobody a lock, whatever stands behind.
func TestLifeThatALostWriteHasShortenedIsPutBackAlsoBehindARelease(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[2].put("k", "b", time.Minute)
		for i, m := range w.masters {
			if i < 2 {
				answering(m, "EVALSHA", "-OOM command not allowed\r\n")
			}
			m.set(func(m *fakeMaster) { m.delay = []time.Duration{50 * ms, 50 * ms, 5 * ms}[i] })
		}
		read := w.put(quorum.Request{Kind: quorum.Read, Key: "x", ValueOnly: true}) // what follows shares a batch
		time.Sleep(ms)
		lost := w.put(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, TTL: 2 * time.Second})
		release := w.put(quorum.Request{Kind: quorum.Release, Key: "k", Token: "a"})
		read.wait(t)
		w.want(lost.wait(t), quorum.Unavailable)
		release.wait(t)
		w.settle()
		if got := w.masters[2].commands("write"); len(got) != 1 {
			t.Fatalf("the third master was told %q", got)
		}
		if left := w.masters[2].left("k"); left < 50*time.Second {
			t.Errorf("%v are left", left)
		}
	})
}
