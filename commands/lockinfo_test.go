package commands

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// watcher is a lookout whose clock stands, over three masters.
type watcher struct {
	seen   *registry.Registry
	now    time.Duration
	others []*Dialect // which are asked
	orders []Order
	asked  int
	slow   time.Duration // how long these take
	inLine int           // clients that wait for k
}

func (w *watcher) Seen() *registry.Registry { return w.seen }
func (w *watcher) Clock() time.Duration     { return w.now }
func (w *watcher) Wall(clock time.Duration) time.Time {
	return time.UnixMilli(1_700_000_000_000).Add(clock)
}
func (w *watcher) Connected(id int64) bool { return id == 99 }
func (w *watcher) InLine(db int, key string) int {
	if db == 0 && key == "k" {
		return w.inLine
	}
	return 0
}
func (w *watcher) Masters() []string { return []string{"m1", "m2", "m3"} }
func (w *watcher) Self() Proxy       { return Proxy{ID: fmt.Sprintf("%p", w), Address: "here:6380"} }
func (w *watcher) Ordered(o Order)   { w.orders = append(w.orders, o) }
func (w *watcher) Inquire(q string) (answers []string) {
	w.asked++
	w.now += w.slow
	for _, d := range w.others {
		if a := d.Asked(q); a != "" {
			answers = append(answers, a)
		}
	}
	return answers
}

func newWatcher() (*watcher, *Dialect) {
	w := &watcher{seen: registry.New(1024), now: time.Minute}
	return w, NewDialect(Options{Lookout: w, Users: everybodyOperates})
}

// hasKey is what contentScript says on a master of a key, "" of one without it; nil is no answer.
func hasKey(typ string, parts ...string) *quorum.ScriptReply {
	r := &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: []quorum.ScriptReply{bulkOf(typ)}}
	if typ != "none" {
		r.Elems = append(r.Elems, *numbered(20_000))
	}
	for _, p := range parts {
		r.Elems = append(r.Elems, bulkOf(p))
	}
	return r
}

// inform has LOCK INFO answered.
func inform(d *Dialect, key string, read quorum.Result, on ...*quorum.ScriptReply) Reply {
	a := d.Session(9).Do([]string{"LOCK", "INFO", key})
	read.Needed = 2
	reply, _ := a.Render.Render([]quorum.Result{answersOf(on...), read})
	return reply
}

func stringHeld(value string) quorum.Result {
	return quorum.Result{Decision: quorum.Won, Exists: true, Type: "string", Value: value, TTL: 19 * time.Second}
}

// told is the field of a map; numbers as text.
func told(r Reply, name string) string {
	for i := 0; i+1 < len(r.Elems); i += 2 {
		if r.Elems[i].Str == name {
			if v := r.Elems[i+1]; v.Kind == IntegerReply {
				return fmt.Sprint(v.Int)
			} else if v.Kind != BulkReply {
				return fmt.Sprint(v)
			} else {
				return v.Str
			}
		}
	}
	return "no such field"
}

var joe = &registry.Origin{ID: 7, Addr: "10.0.0.7:5000", Name: "joe", Library: "redis-py 8.0", User: "default"}

func taken(key, token string) *registry.Act {
	return &registry.Act{What: registry.Granted, Key: key, Signs: registry.SignedBy(token), TTL: 30 * time.Second, At: 50 * time.Second,
		Votes: quorum.Votes(quorum.Granted) | quorum.Votes(quorum.Granted)<<quorum.VoteBits, By: joe}
}

func TestWhoHoldsALockIsToldWithoutItsToken(t *testing.T) {
	w, d := newWatcher()
	w.inLine = 7
	w.seen.Note(taken("k", "secret"))
	r := inform(d, "k", stringHeld("secret"), hasKey("string", "secret"), hasKey("string", "other"), hasKey("string", "secret"))
	for name, want := range map[string]string{
		"state": "held", "type": "string", "holder": registry.Fingerprint("secret"), "client-id": "7", "client-name": "joe",
		"client-library": "redis-py 8.0", "held-by": "client 7 at 10.0.0.7:5000, named joe, by redis-py 8.0",
		"held-ms": "10000", "left-ms": "19000", "granted-by": "m1, m2", "waiters": "0", "in-line": "7", "why": "",
	} {
		if got := told(r, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if on := told(r, "masters"); !strings.Contains(on, "m1") || strings.Count(on, "holds it") != 2 || !strings.Contains(on, "another value") {
		t.Errorf("%s", on)
	}
	if strings.Contains(fmt.Sprint(r), "secret") {
		t.Error("the token is told")
	}
	if w.asked != 0 {
		t.Error("other proxies were asked of what is known")
	}
}

func TestWhatNobodyKnowsIsSaidSo(t *testing.T) {
	held := hasKey("string", "theirs")
	for name, c := range map[string]struct {
		read quorum.Result
		on   []*quorum.ScriptReply
		want string // state, who, why
	}{
		"another's lock under the same key": {stringHeld("theirs"), []*quorum.ScriptReply{held, held, nil}, "held|" + unknownHolder + "|"},
		"nothing":                           {quorum.Result{Decision: quorum.Won}, []*quorum.ScriptReply{hasKey("none"), held, hasKey("none")}, "free||"},
		"no quorum":                         {quorum.Result{Decision: quorum.Unavailable, Voted: 1, Masters: 3}, []*quorum.ScriptReply{held, nil, nil}, "unknown||NOQUORUM 1 of 3 masters can vote, 2 are needed"},
		"a value that is too long":          {quorum.Result{Decision: quorum.Won, Exists: true, Type: "string"}, []*quorum.ScriptReply{hasKey("string"), hasKey("string"), nil}, "held|" + unknownHolder + "|"},
	} {
		w, d := newWatcher()
		w.seen.Note(taken("k", "secret"))
		r := inform(d, "k", c.read, c.on...)
		if got := told(r, "state") + "|" + told(r, "held-by") + "|" + told(r, "why"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Without a quorum no master is asked: that of one that could answer nothing is known is not its silence.
func TestMasterThatIsNotAskedIsNotSaidToBeSilent(t *testing.T) {
	w, d := newWatcher()
	w.seen.Note(taken("k", "secret"))
	none := quorum.Result{Decision: quorum.Unavailable, Voted: 1, Masters: 3, Needed: 2}
	survey := answersOf(nil, nil, nil)
	survey.Decision = quorum.Unavailable
	r, _ := d.Session(9).Do([]string{"LOCK", "INFO", "k"}).Render.Render([]quorum.Result{survey, none})
	if on := told(r, "masters"); strings.Count(on, "not known") != 3 || strings.Contains(on, "no answer") {
		t.Errorf("%s", on)
	}
	if got := told(r, "last-known-by"); got != "granted: client 7 at 10.0.0.7:5000, named joe, by redis-py 8.0" {
		t.Errorf("%s", got)
	}
}

func TestLockOfAScriptIsWhoseArgumentsAreInIt(t *testing.T) {
	w, d := newWatcher()
	w.seen.Note(&registry.Act{What: registry.Written, Key: "h", Signs: registry.SignsOf([]string{"30000", "b7:12"}), TTL: registry.UnknownTTL, At: 50 * time.Second, By: joe})
	hash := quorum.Result{Decision: quorum.Won, Exists: true, Type: "hash", TTL: 20 * time.Second}
	mine, other := hasKey("hash", "b7:12", "1"), hasKey("hash", "1", "b7:13")
	if r := inform(d, "h", hash, mine, hasKey("hash", "1", "b7:12"), other); told(r, "client-name") != "joe" {
		t.Errorf("%v", r)
	}
	if r := inform(d, "h", hash, other, other, mine); told(r, "held-by") != unknownHolder {
		t.Errorf("%v", r)
	}
}

func TestOtherProxiesAreAskedForWhatIsNotKnownHere(t *testing.T) {
	w, d := newWatcher()
	other, od := newWatcher()
	w.others = []*Dialect{od}
	other.seen.Note(taken("k", "secret"))
	held := hasKey("string", "secret")
	a := d.Session(9).Do([]string{"LOCK", "INFO", "k"})
	read := stringHeld("secret")
	read.Needed = 2
	results := []quorum.Result{answersOf(held, held, nil), read}
	if slow, ok := a.Render.(SlowRender); !ok || !slow.Slow(results) {
		t.Fatal("a lane would wait for them")
	}
	r, _ := a.Render.Render(results)
	if told(r, "client-name") != "joe" || told(r, "proxy") != other.Self().ID || told(r, "granted-by") != "m1, m2" {
		t.Errorf("%v", r)
	}
	w.seen.Note(taken("k", "secret"))
	if slow := a.Render.(SlowRender); slow.Slow(results) {
		t.Error("they are asked for what is known here")
	}
}

// TestQuestionsOfProxiesAreReadWithCare: masters carry them, and anything may come.
func TestQuestionsOfProxiesAreReadWithCare(t *testing.T) {
	_, d := newWatcher()
	for _, q := range []string{
		"", "{", "[]", "{}", `{"ask":"tokens"}`, `{"ask":"holders"}`, `{"ask":"holders","keys":[{"db":-1,"key":"aw=="}]}`,
		`{"ask":"holders","keys":[{"db":99,"key":"aw==","signs":[1]}]}`, `{"ask":"holders","keys":[` + strings.Repeat(`{},`, maxInquired) + `{}]}`,
	} {
		if a := d.Asked(q); a != "" {
			t.Errorf("%s is answered %s", q, a)
		}
	}
	if a := d.Asked(`{"ask":"proxies"}`); !strings.Contains(a, "here:6380") {
		t.Errorf("%s", a)
	}
}

func TestProxiesAreThisOneAndThoseThatAnswer(t *testing.T) {
	w, d := newWatcher()
	_, od := newWatcher()
	w.others = []*Dialect{od, od}
	r := d.Session(1).Proxies()
	if len(r.Elems) != 2 || told(r.Elems[0], "this-one") != "1" || told(r.Elems[1], "this-one") != "0" {
		t.Errorf("%v", r)
	}
}

func TestListOfLocksTellsOfEachAndGoesOn(t *testing.T) {
	w, d := newWatcher()
	w.seen.Note(taken("k1", "s1"))
	s := d.Session(1)
	a := s.Do([]string{"LOCK", "LIST", "MATCH", "k*", "COUNT", "5"})
	pageOf := &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: []quorum.ScriptReply{
		bulkOf("77"), {Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: []quorum.ScriptReply{bulkOf("k1"), bulkOf("k2")}}}}
	_, next := a.Render.Render([]quorum.Result{answersOf(pageOf, nil, nil)})
	if len(next.Requests) != 2 || next.Requests[1].Key != "k2" {
		t.Fatalf("%+v", next)
	}
	_, next = next.Render.Render([]quorum.Result{stringHeld("s1"), stringHeld("s2")})
	if len(next.Requests) != 4 || next.Requests[2].Kind != quorum.Survey || next.Requests[3].Key != "k2" {
		t.Fatalf("%+v", next)
	}
	one, free := stringHeld("s1"), quorum.Result{Decision: quorum.Won}
	one.Needed, free.Needed = 2, 2
	none := hasKey("none") // it was freed meanwhile
	r, _ := next.Render.Render([]quorum.Result{answersOf(hasKey("string", "s1"), nil, hasKey("string", "s1")), one, answersOf(none, none, none), free})
	if len(r.Elems) != 2 || r.Elems[0].Str == "0" || len(r.Elems[1].Elems) != 1 || told(r.Elems[1].Elems[0], "client-name") != "joe" {
		t.Errorf("%v", r)
	}
	again := s.Do([]string{"LOCK", "LIST", "CURSOR", r.Elems[0].Str})
	if len(again.Requests) != 1 || again.Requests[0].Args[1] != "77" {
		t.Errorf("%+v", again)
	}
	if many := (informed{d: d, more: make([]string, 100)}).next(); len(many.Requests) != 2*locksAtOnce {
		t.Errorf("%d questions are put at once", len(many.Requests))
	}
}

func TestLockIsForcedFromItsHolderAlone(t *testing.T) {
	held, hash := hasKey("string", "secret"), hasKey("hash", "f", "v")
	mine := registry.Fingerprint("secret")
	for name, c := range map[string]struct {
		holder string
		read   quorum.Result
		on     *quorum.ScriptReply
		then   quorum.Decision // of the release; 0 is none
		want   string
	}{
		"its holder":                {mine, stringHeld("secret"), held, quorum.Won, "OK, its holder does not know of it"},
		"another":                   {registry.Fingerprint("old"), stringHeld("secret"), held, 0, "ERR it is held by another one by now"},
		"nobody":                    {mine, quorum.Result{Decision: quorum.Won}, hasKey("none"), 0, "ERR nobody holds it"},
		"a hash":                    {registry.Fingerprint("f", "v"), quorum.Result{Decision: quorum.Won, Exists: true, Type: "hash"}, hash, 0, "ERR it is a hash"},
		"who has changed meanwhile": {mine, stringHeld("secret"), held, quorum.Contended, "ERR it is held by another one by now, or by nobody"},
		"no quorum":                 {mine, quorum.Result{Decision: quorum.Unavailable, Masters: 3, Needed: 2}, held, 0, "NOQUORUM"},
	} {
		w, d := newWatcher()
		a := d.Session(3).Do([]string{"LOCK", "FORCE", "k", "HOLDER", strings.ToUpper(c.holder), "REASON", "it", "hangs"})
		c.read.Needed = 2
		r, next := a.Render.Render([]quorum.Result{answersOf(c.on, c.on, nil), c.read})
		if c.then != 0 {
			if len(next.Requests) != 1 || next.Requests[0].Kind != quorum.Release || next.Requests[0].Token != "secret" {
				t.Fatalf("%s: %+v", name, next)
			}
			r, _ = next.Render.Render([]quorum.Result{{Decision: c.then}})
		}
		if !strings.HasPrefix(r.Str, c.want) {
			t.Errorf("%s: %q", name, r.Str)
		}
		if len(w.orders) != 1 || w.orders[0].Reason != "it hangs" || w.orders[0].Answer != r.Str || w.orders[0].By.ID != 3 {
			t.Errorf("%s: %+v", name, w.orders)
		}
	}
	_, d := newWatcher()
	for _, words := range []string{"k HOLD x", "k HOLDER x REASON", "k HOLDER x BECAUSE y"} {
		if a := d.Session(1).Do(strings.Fields("LOCK FORCE " + words)); a.Reply.Str != errSyntax {
			t.Errorf("%s: %+v", words, a)
		}
	}
	if a := NewDialect(Options{}).Session(1).Do(strings.Fields("LOCK FORCE k HOLDER x")); !strings.HasPrefix(a.Reply.Str, "NOPERM ") {
		t.Errorf("%+v", a)
	}
}
