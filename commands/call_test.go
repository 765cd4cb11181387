package commands

import (
	"crypto/sha1"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// rename enters a script with a shape of the test's own making, and puts its
// SHA-1 for the f after EVALSHA.
func rename(d *Dialect, sc *script, line string) string {
	sha := strings.Repeat(sc.sha, 2*sha1.Size)[:2*sha1.Size]
	d.scripts.bySHA[sha] = sc
	return strings.Replace(line, "EVALSHA f", "EVALSHA "+sha, 1)
}

// A key with the token t or the value of somebody else, with a ttl or without, or
// no key: what a shape comes to in each state.
func TestShapesActAsTheirScriptsWould(t *testing.T) {
	answers := func(sh shape) *script {
		sh.key, sh.token = 1, 1
		sh.yes, sh.other, sh.absent = Simple("yes"), Simple("other"), Simple("absent")
		return &script{sha: "f", known: true, shape: sh}
	}
	release := answers(shape{class: quorum.Release})
	extend := answers(shape{class: quorum.Extend, ttl: 2, unit: time.Millisecond})
	seconds := answers(shape{class: quorum.Extend, ttl: 2, unit: time.Second})
	until := answers(shape{class: quorum.Extend, ttl: 2, unit: time.Millisecond, absolute: true})
	adding := answers(shape{class: quorum.Extend, ttl: 2, unit: time.Millisecond, additive: 3, needsTTL: true})
	addingSeconds := answers(shape{class: quorum.Extend, ttl: 2, unit: time.Second, additive: 3})
	longer := answers(shape{class: quorum.Extend, ttl: 2, unit: time.Millisecond, greater: true})
	needsTTL := answers(shape{class: quorum.Extend, ttl: 2, unit: time.Millisecond, needsTTL: true})
	bySet := answers(shape{class: quorum.Extend, ttl: 2, unit: time.Millisecond, bySet: true})
	orPersist := answers(shape{class: quorum.Extend, ttl: 2, unit: time.Second, orPersist: true})

	const gone, never = -2, -1
	for _, test := range []struct {
		name   string
		sc     *script
		value  string // "" for no key
		ttl    int64  // ms, never
		argv   string
		answer string
		left   int64 // ms, never or gone
	}{
		{"release, held", release, "t", 1000, "", "+yes", gone},
		{"release, another's", release, "u", 1000, "", "+other", 1000},
		{"release, absent", release, "", 0, "", "+absent", gone},

		{"extend, held", extend, "t", 1000, "5000", "+yes", 5000},
		{"extend, shorter", extend, "t", 9000, "5000", "+yes", 5000},
		{"extend, held for ever", extend, "t", never, "5000", "+yes", 5000},
		{"extend, another's", extend, "u", 1000, "5000", "+other", 1000},
		{"extend, absent", extend, "", 0, "5000", "+absent", gone},
		{"extend, ended", extend, "t", 1000, "0", "+yes", gone},
		{"extend, ended before", extend, "t", 1000, "-5", "+yes", gone},
		{"extend, another's end", extend, "u", 1000, "0", "+other", 1000},
		{"seconds", seconds, "t", 1000, "5", "+yes", 5000},

		{"until", until, "t", 1000, "1795219205000", "+yes", 5000},
		{"until the epoch", until, "t", 1000, "0", "+yes", gone},

		{"adding, held", adding, "t", 1000, "5000 0", "+yes", 6000},
		{"adding, replacing", adding, "t", 1000, "5000 1", "+yes", 5000},
		{"adding, taking", adding, "t", 9000, "-5000 0", "+yes", 4000},
		{"adding, taking all", adding, "t", 1000, "-5000 0", "+yes", gone},
		{"adding, for ever", adding, "t", never, "5000 0", "+other", never},
		{"adding, another's", adding, "u", 1000, "5000 0", "+other", 1000},
		{"adding, absent", adding, "", 0, "5000 0", "+absent", gone},
		{"adding seconds", addingSeconds, "t", 1000, "5 0", "+yes", 6000},
		{"adding too much", adding, "t", 1000, "9223372036854775000 0",
			"-ERR invalid expire time in 'pexpire' command script: f, on @user_script:1.", 1000},

		{"longer, longer", longer, "t", 1000, "5000", "+yes", 5000},
		{"longer, shorter", longer, "t", 9000, "5000", "+yes", 9000},
		{"longer, for ever", longer, "t", never, "5000", "+yes", never},
		{"longer, another's", longer, "u", 9000, "5000", "+other", 9000},
		{"longer, absent", longer, "", 0, "5000", "+absent", gone},
		{"longer, ended", longer, "t", 9000, "0", "+yes", 9000},

		{"needs a ttl, has one", needsTTL, "t", 1000, "5000", "+yes", 5000},
		{"needs a ttl, has none", needsTTL, "t", never, "5000", "+other", never},

		{"by SET, held", bySet, "t", 1000, "5000", "+yes", 5000},
		{"by SET, never ends it", bySet, "t", 1000, "0",
			"-ERR invalid expire time in 'set' command script: f, on @user_script:1.", 1000},

		{"or persist, expires", orPersist, "t", 1000, "5", "+yes", 5000},
		{"or persist, persists", orPersist, "t", 1000, "0", "+yes", never},
		{"or persist, another's", orPersist, "u", 1000, "0", "+other", 1000},
	} {
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
			a := do(t, g.session, rename(h.dialect, test.sc, "EVALSHA f 1 k t "+test.argv))
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
	sc := &script{sha: "f", known: true, shape: shape{class: quorum.Extend, key: 1, token: 1, ttl: 2, unit: time.Second, greater: true}}
	a := do(t, d.Session(1), rename(d, sc, "EVALSHA f 1 k t 5"))
	if len(a.Requests) != 1 || a.Requests[0].Kind != quorum.Read || !a.Continues {
		t.Errorf("%+v", a)
	}
}
