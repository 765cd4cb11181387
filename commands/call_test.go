package commands

import (
	"crypto/sha1"
	"strings"
	"testing"
	"time"

	"redlock-proxy/commands/recognise"
	"redlock-proxy/quorum"
)

// rename enters a script with a shape of the test's own making, and puts its
// SHA-1 for the f after EVALSHA.
func rename(d *Dialect, sc *script, line string) string {
	sha := strings.Repeat(sc.sha, 2*sha1.Size)[:2*sha1.Size]
	d.scripts.bySHA[sha] = sc
	return strings.Replace(line, "EVALSHA f", "EVALSHA "+sha, 1)
}

// The ttls of shapeRows that are none.
const (
	gone  = -2
	never = -1
)

var shapeRows = []struct {
	name   string
	shape  string // in answeringScripts
	value  string // "" for no key
	ttl    int64  // ms, never
	argv   string
	answer string
	left   int64 // ms, never or gone
}{
	{"release, held", "release", "t", 1000, "", "+yes", gone},
	{"release, another's", "release", "u", 1000, "", "+other", 1000},
	{"release, absent", "release", "", 0, "", "+absent", gone},

	{"extend, held", "extend", "t", 1000, "5000", "+yes", 5000},
	{"extend, shorter", "extend", "t", 9000, "5000", "+yes", 5000},
	{"extend, held for ever", "extend", "t", never, "5000", "+yes", 5000},
	{"extend, another's", "extend", "u", 1000, "5000", "+other", 1000},
	{"extend, absent", "extend", "", 0, "5000", "+absent", gone},
	{"extend, ended", "extend", "t", 1000, "0", "+yes", gone},
	{"extend, ended before", "extend", "t", 1000, "-5", "+yes", gone},
	{"extend, another's end", "extend", "u", 1000, "0", "+other", 1000},
	{"seconds", "seconds", "t", 1000, "5", "+yes", 5000},

	{"until", "until", "t", 1000, "1795219205000", "+yes", 5000},
	{"until the epoch", "until", "t", 1000, "0", "+yes", gone},

	{"adding, held", "adding", "t", 1000, "5000 0", "+yes", 6000},
	{"adding, replacing", "adding", "t", 1000, "5000 1", "+yes", 5000},
	{"adding, taking", "adding", "t", 9000, "-5000 0", "+yes", 4000},
	{"adding, taking all", "adding", "t", 1000, "-5000 0", "+yes", gone},
	{"adding, for ever", "adding", "t", never, "5000 0", "+other", never},
	{"adding, another's", "adding", "u", 1000, "5000 0", "+other", 1000},
	{"adding, absent", "adding", "", 0, "5000 0", "+absent", gone},
	{"adding seconds", "addingSeconds", "t", 1000, "5 0", "+yes", 6000},
	{"adding the most", "adding", "t", 1000, "9007199254740992 0", "+yes", 9007199254741992},

	{"longer, longer", "longer", "t", 1000, "5000", "+yes", 5000},
	{"longer, shorter", "longer", "t", 9000, "5000", "+kept", 9000},
	{"longer, for ever", "longer", "t", never, "5000", "+kept", never},
	{"longer, another's", "longer", "u", 9000, "5000", "+other", 9000},
	{"longer, absent", "longer", "", 0, "5000", "+absent", gone},
	{"longer, ended", "longer", "t", 9000, "0", "+kept", 9000},

	{"needs a ttl, has one", "needsTTL", "t", 1000, "5000", "+yes", 5000},
	{"needs a ttl, has none", "needsTTL", "t", never, "5000", "+other", never},

	{"by SET, held", "bySet", "t", 1000, "5000", "+yes", 5000},
	{"by SET, adding, never ends it", "bySetAdding", "t", never, "1 0",
		"-ERR invalid expire time in 'set' command script: f, on @user_script:1.", never},

	{"or persist, expires", "orPersist", "t", 1000, "5", "+yes", 5000},
	{"or persist, persists", "orPersist", "t", 1000, "0", "+yes", never},
	{"or persist, another's", "orPersist", "u", 1000, "0", "+other", 1000},

	{"acquire, free", "acquire", "", 0, "5000", "+yes", 5000},
	{"acquire, another's", "acquire", "u", 1000, "5000", "+other", 1000},
	{"acquire, his own", "acquire", "t", 1000, "5000", "+other", 1000},
	{"acquire seconds", "acquireSeconds", "", 0, "5", "+yes", 5000},
	{"acquire for ever", "acquireForEver", "", 0, "", "+yes", never},
	{"acquire for ever, another's", "acquireForEver", "u", never, "", "+other", never},
	{"acquire, the ttl being none", "acquireSeconds", "", 0, "0", "+yes", never},
}

func status(word string) quorum.Reply { return quorum.Reply{Kind: quorum.StatusReply, Str: word} }

// answeringScripts are scripts of each shape, with answers that tell which one was given.
func answeringScripts() map[string]*script {
	answers := func(sh recognise.Shape) *script {
		sh.Key, sh.Token = 1, 1
		sh.Yes, sh.Other, sh.Absent, sh.Kept = status("yes"), status("other"), status("absent"), status("kept")
		return &script{sha: "f", known: true, shape: sh}
	}
	return map[string]*script{
		"release":       answers(recognise.Shape{Class: quorum.Release}),
		"extend":        answers(recognise.Shape{Class: quorum.Extend, TTL: 2, Unit: time.Millisecond}),
		"seconds":       answers(recognise.Shape{Class: quorum.Extend, TTL: 2, Unit: time.Second}),
		"until":         answers(recognise.Shape{Class: quorum.Extend, TTL: 2, Unit: time.Millisecond, Absolute: true}),
		"adding":        answers(recognise.Shape{Class: quorum.Extend, TTL: 2, Unit: time.Millisecond, Additive: 3, NeedsTTL: true}),
		"addingSeconds": answers(recognise.Shape{Class: quorum.Extend, TTL: 2, Unit: time.Second, Additive: 3}),
		"longer":        answers(recognise.Shape{Class: quorum.Extend, TTL: 2, Unit: time.Millisecond, Greater: true}),
		"needsTTL":      answers(recognise.Shape{Class: quorum.Extend, TTL: 2, Unit: time.Millisecond, NeedsTTL: true}),
		"bySet":         answers(recognise.Shape{Class: quorum.Extend, TTL: 2, Unit: time.Millisecond, BySet: true}),
		"bySetAdding":   answers(recognise.Shape{Class: quorum.Extend, TTL: 2, Unit: time.Millisecond, Additive: 3, BySet: true}),
		"orPersist":     answers(recognise.Shape{Class: quorum.Extend, TTL: 2, Unit: time.Second, OrPersist: true}),

		"acquire":        answers(recognise.Shape{Class: quorum.Acquire, TTL: 2, Unit: time.Millisecond}),
		"acquireSeconds": answers(recognise.Shape{Class: quorum.Acquire, TTL: 2, Unit: time.Second, OrPersist: true}),
		"acquireForEver": answers(recognise.Shape{Class: quorum.Acquire}),
	}
}

// A key with the token t or the value of somebody else, with a ttl or without, or
// no key: what a shape comes to in each state.
func TestShapesActAsTheirScriptsWould(t *testing.T) {
	scripts := answeringScripts()
	for _, test := range shapeRows {
		t.Run(test.name, func(t *testing.T) {
			h := newHouse(Options{})
			h.master.now = 1795219200000
			if test.value != "" {
				e := entry{kind: "string", value: test.value}
				if test.ttl != never {
					e.end = h.master.now + test.ttl
				}
				h.master.keys["k"] = e
			}
			client, _ := h.dial(1)
			g := client.(*guest)
			a := do(t, g.session, rename(h.dialect, scripts[test.shape], "EVALSHA f 1 k t "+test.argv))
			if got := lines(nil, g.carryOut(a), 2); got[0] != test.answer {
				t.Errorf("the answer is %s, want %s", got[0], test.answer)
			}
			left := int64(gone)
			if e, ok := h.master.find("k"); ok {
				left = never
				if e.end != 0 {
					left = e.end - h.master.now
				}
			}
			if left != test.left {
				t.Errorf("%d ms are left, want %d", left, test.left)
			}
		})
	}
}

func TestScriptsReadBeforeTheyAddAndSaySo(t *testing.T) {
	d := NewDialect(Options{})
	sc := &script{sha: "f", known: true, shape: recognise.Shape{Class: quorum.Extend, Key: 1, Token: 1, TTL: 2, Unit: time.Second, Greater: true}}
	a := do(t, d.Session(1), rename(d, sc, "EVALSHA f 1 k t 5"))
	if len(a.Requests) != 1 || a.Requests[0].Kind != quorum.Read || !a.Continues {
		t.Errorf("%+v", a)
	}
}

// What a call gives decides whether it is the call that was recognised. Any other
// is the masters' to answer, who have Redis's own words for it.
func TestCallsThatAreNotTheRecognisedOneRunJournaled(t *testing.T) {
	const (
		release   = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`
		ifMore    = `if redis.call('get', KEYS[1]) == ARGV[1] and ARGV[2] then return redis.call('del', KEYS[1]) end return 0`
		ifKey     = `if redis.call('get', KEYS[1]) ~= ARGV[1] or KEYS[2] == nil then return 0 end return redis.call('del', KEYS[1])`
		orDefault = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2] or 5000) end return 0`
		extend    = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('expire', KEYS[1], tonumber(ARGV[2])) end return 0`
		orPersist = `if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
			if tonumber(ARGV[2]) > 0 then redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) else redis.call('persist', KEYS[1]) end return 1`
		acquire = `return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])`
		setnx   = `local n = redis.call('setnx', KEYS[1], ARGV[1])
			if n == 1 and tonumber(ARGV[2]) > 0 then redis.call('expire', KEYS[1], ARGV[2]) end return n`
		bySet = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) end return 0`
	)
	for _, test := range []struct {
		text, call string
		want       quorum.Kind
	}{
		{release, "1 k t", quorum.Release},
		{release, "2 k l t more", quorum.Release},
		{release, "1 k", quorum.Run},
		{release, "0", quorum.Run},
		{release, "0 k t", quorum.Run},
		{ifMore, "1 k t 1", quorum.Release},
		{ifMore, "1 k t", quorum.Run},
		{ifKey, "2 k l t", quorum.Release},
		{ifKey, "1 k t", quorum.Run},
		{orDefault, "1 k t 9000", quorum.Extend},
		{orDefault, "1 k t", quorum.Run},
		{extend, "1 k t 9007199254740992", quorum.Extend},
		{extend, "1 k t 9007199254740993", quorum.Run},
		{extend, "1 k t -9007199254740993", quorum.Run},
		{extend, "1 k t 0", quorum.Release},
		{extend, "1 k t 1.5", quorum.Run},
		{extend, "1 k t 0x10", quorum.Run},
		{extend, "1 k t 1e3", quorum.Run},
		{extend, "1 k t 010", quorum.Run},
		{extend, "1 k t", quorum.Run},
		{bySet, "1 k t 9000", quorum.Extend},
		{bySet, "1 k t 0", quorum.Run},
		{orPersist, "1 k t 9000", quorum.Extend},
		{orPersist, "1 k t 0", quorum.Extend},
		{acquire, "1 k t 9000", quorum.Acquire},
		{acquire, "2 k l t 9000 more", quorum.Acquire},
		{acquire, "1 k t 0", quorum.Run},
		{acquire, "1 k t -1", quorum.Run},
		{acquire, "1 k t x", quorum.Run},
		{acquire, "1 k t", quorum.Run},
		{setnx, "1 k t 9", quorum.Acquire},
		{setnx, "1 k t 0", quorum.Acquire},
		{setnx, "1 k t", quorum.Run},
	} {
		a := NewDialect(Options{}).Session(1).Do(append([]string{"EVAL", test.text}, strings.Fields(test.call)...))
		if len(a.Requests) != 1 || a.Requests[0].Kind != test.want {
			t.Errorf("%s, called with %s: %+v, want %v", test.text, test.call, a.Requests, test.want)
		}
	}
}

// Who is to be told of what a script has read has it read.
func TestAnAcquireOfWhoTracksRunsJournaled(t *testing.T) {
	const acquire = `return redis.call('setnx', KEYS[1], ARGV[1])`
	for _, test := range []struct {
		before []string
		want   quorum.Kind
	}{
		{nil, quorum.Acquire},
		{[]string{"ON"}, quorum.Run},
		{[]string{"ON", "OPTIN"}, quorum.Acquire},
		{[]string{"ON", "BCAST", "PREFIX", "other"}, quorum.Acquire},
	} {
		s := NewDialect(Options{Users: everybodyOperates}).Session(1)
		do(t, s, "HELLO 3")
		if test.before != nil {
			a := s.Do(append([]string{"CLIENT", "TRACKING"}, test.before...))
			s.Tracks(a.Effect.(TrackingEffect), nil)
		}
		a := s.Do([]string{"EVAL", acquire, "1", "k", "t"})
		if len(a.Requests) != 1 || a.Requests[0].Kind != test.want {
			t.Errorf("%s: %+v, want %v", test.before, a.Requests, test.want)
		}
	}
}
