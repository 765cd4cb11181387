package commands

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

// queues is a session that has queued these commands.
func queues(t *testing.T, s *Session, commands ...[]string) *Session {
	t.Helper()
	do(t, s, "MULTI")
	for _, words := range commands {
		if a := s.Do(words); a.Reply.Str != "QUEUED" {
			t.Fatalf("%q: %s", words, a.Reply.Str)
		}
	}
	return s
}

func TestScriptsInTransactionsAreGivenToOneStep(t *testing.T) {
	d := NewDialect(Options{})
	counts, gets := "return redis.call('INCRBY', KEYS[1], ARGV[1])", "return redis.call('GET', KEYS[1])"
	a := do(t, queues(t, d.Session(1), []string{"SET", "k", "1"}, []string{"EVAL", counts, "1", "n", "5"},
		[]string{"EVAL_RO", gets, "1", "k"}, []string{"EVAL", counts, "1", "m", "0"}), "EXEC")
	if len(a.Requests) != 1 {
		t.Fatalf("%+v", a)
	}
	r := a.Requests[0]
	words := strings.Fields("0 4 3 SET k 1 0 1 false 1 n 1 5 0 2 true 1 k 0 0 1 false 1 m 1 0")
	for _, text := range []string{gets, counts} {
		sc := d.scripts.enter(text)
		words = append(words, sc.printedWords()...)
	}
	if want := []string{"k", "n", "m"}; !slices.Equal(r.Args, words) || !slices.Equal(r.Keys, want) {
		t.Errorf("%q\nof %q", r.Args, r.Keys)
	}
	if s := r.Script; !s.Latches || !s.Exact || s.Reads || *s.Runs != quorum.DefaultBounds || !s.OfClient() {
		t.Errorf("the step is %+v", s)
	}

	// What it takes is known of those that call the same in the same order, whatever they give it.
	again := do(t, queues(t, d.Session(2), []string{"EVAL", counts, "1", "x", "5"}, []string{"PING"},
		[]string{"EVAL", gets, "1", "k"}, []string{"EVAL", counts, "1", "m", "0"}), "EXEC")
	other := do(t, queues(t, d.Session(3), []string{"EVAL", gets, "1", "k"}, []string{"EVAL", counts, "1", "m", "0"}), "EXEC")
	if again.Requests[0].Script != r.Script || other.Requests[0].Script == r.Script {
		t.Error("scripts are not told apart by what is called")
	}
	for i := range 2 * mostMixes {
		d.mixes.of([]step{{call: &scriptCalled{sc: &script{sha: fmt.Sprint(i), journaled: quorum.NewPrinted(quorum.Printed{})}}}})
	}
	if len(d.mixes.made) > mostMixes {
		t.Errorf("%d are kept", len(d.mixes.made))
	}
}

func TestTransactionThatOnlyReadsMayNotWrite(t *testing.T) {
	gets := "return redis.call('GET', KEYS[1])"
	for _, c := range []struct {
		script []string
		reads  bool
	}{
		{[]string{"EVAL_RO", gets, "1", "k"}, true},
		{[]string{"EVAL", "#!lua flags=no-writes\n" + gets, "1", "k"}, true},
		{[]string{"EVAL", gets, "1", "k"}, false},
	} {
		a := do(t, queues(t, NewDialect(Options{}).Session(1), c.script, []string{"GET", "j"}), "EXEC")
		if got := a.Requests[0].Script.Reads; got != c.reads {
			t.Errorf("%q: %t", c.script, got)
		}
	}
}

func TestScriptOfAWatchingTransactionIsComparedFirst(t *testing.T) {
	s := watched(t, holds("t"))
	release := "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end"
	a := do(t, queues(t, s, []string{"EVAL", release, "1", "k", "t"}), "EXEC")
	r := a.Requests[0]
	if want := strings.Fields("1 1 string t 1 0 1 false 1 k 1 t"); r.Kind != quorum.Run || !slices.Equal(r.Args[:len(want)], want) {
		t.Errorf("%q", r.Args)
	}
	if !a.Frees {
		t.Error("it is not said to free a lock")
	}
	if reply, _ := answer(t, a, ran(quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.NilReply}})); reply.Kind != NullArrayReply {
		t.Errorf("%+v", reply)
	}
}

func TestScriptThatIsNotForATransactionIsRefusedWhereItIsQueued(t *testing.T) {
	long := func(name string) string { return "return '" + strings.Repeat(name, maxLockScript/2) + "'" }
	for _, c := range []struct{ texts, want string }{
		{"return os.time()", "'os' is not for lock scripts"},
		{"#!js\nreturn 1", "Unexpected engine in script shebang: #!js"},
		{long("a") + "|" + long("b"), overlong},
		{long("a") + "|" + long("a"), "QUEUED"},
		{"return +", "QUEUED"}, // an error in its place, as in Redis
	} {
		s := NewDialect(Options{}).Session(1)
		do(t, s, "MULTI")
		var last Reply
		for text := range strings.SplitSeq(c.texts, "|") {
			last = s.Do([]string{"EVAL", text, "0"}).Reply
		}
		if !strings.Contains(last.Str, c.want) {
			t.Errorf("%.40s: %s", c.texts, last.Str)
		}
		if a := do(t, s, "EXEC"); c.want != "QUEUED" && a.Reply.Str != errExecAbort {
			t.Errorf("%.40s: EXEC %+v", c.texts, a.Reply)
		}
	}

	// Of one that is not known yet that is known at EXEC.
	d := NewDialect(Options{})
	a, b := newScript(long("a"), quorum.DefaultBounds), newScript(long("b"), quorum.DefaultBounds)
	s := queues(t, d.Session(1), []string{"EVALSHA", a.sha, "0"}, []string{"EVALSHA", b.sha, "0"})
	d.scripts.enter(a.text)
	d.scripts.enter(b.text)
	if a := do(t, s, "EXEC"); len(a.Requests) > 0 || !strings.HasPrefix(a.Reply.Str, errExecAbortOf) {
		t.Errorf("EXEC %+v", a)
	}
}

// Each script is the one that its user was judged by, whatever is queued behind it.
func TestScriptsOfATransactionAreJudgedEach(t *testing.T) {
	d := NewDialect(Options{})
	gets, counts := d.scripts.enter("return redis.call('GET', KEYS[1])"), d.scripts.enter("return redis.call('HLEN', KEYS[1])")
	s := queues(t, as(t, d, "~a:* +@transaction +evalsha +get +hlen"), []string{"EVALSHA", gets.sha, "1", "a:1"}, []string{"EVALSHA", counts.sha, "1", "a:2"},
		[]string{"EVALSHA", strings.Repeat("f", 40), "1", "a:3"})
	a := do(t, s, "EXEC")
	if len(a.Requests) != 1 || !reflect.DeepEqual(a.Requests[0].Args[len(a.Requests[0].Args)-6:], append(counts.printedWords(), gets.printedWords()...)) {
		t.Fatalf("%+v", a)
	}
	for _, words := range [][]string{
		{"EVALSHA", gets.sha, "1", "b:1"},
		{"EVAL", "return redis.call('DEL', KEYS[1])", "1", "a:1"},
		{"EVAL", gets.text, "1", "a:1"},
	} {
		s := as(t, d, "~a:* +@transaction +evalsha +get +hlen")
		do(t, s, "MULTI")
		do(t, s, "GET a:1")
		if a := s.Do(words); !strings.HasPrefix(a.Reply.Str, "NOPERM") {
			t.Errorf("%q: %+v", words, a.Reply)
		}
		if a := do(t, s, "EXEC"); a.Reply.Str != errExecAbort {
			t.Errorf("%q: EXEC %+v", words, a.Reply)
		}
	}
}
