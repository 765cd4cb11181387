package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/proxy/page"
)

func TestLockIsReadFromWhatACommandTells(t *testing.T) {
	b, n := commands.Bulk, commands.Integer
	l := lockOf(commands.Map(b("key"), b("k\xff"), b("database"), n(3), b("state"), b("held"), b("type"), b("string"), b("holder"), b("1f2e"),
		b("client-id"), n(7), b("client-addr"), b("a:1"), b("client-name"), b("joe"), b("client-library"), b("redis-py 5"), b("client-user"), b("app"),
		b("proxy"), b("p1"), b("since"), b("2026-03-01T00:00:01.500Z"), b("held-ms"), n(500), b("until"), b("2026-03-01T00:00:03.500Z"), b("left-ms"), n(1500),
		b("extensions"), n(2), b("refusals"), n(4), b("waiters"), n(1),
		b("wanted-by"), commands.Array(commands.Map(b("client"), b("client 8 at a:2"), b("client-id"), n(8), b("times"), n(5), b("every-ms"), n(50), b("last-ms"), n(7))),
		b("masters"), commands.Map(b("m1"), b("holds it"), b("m2"), b("nothing"), b("m3"), b("no answer"), b("m4"), b("another value"), b("m5"), b("error: LOADING"), b("m6"), b("not known"), b("m7"), b("a value, it is not known whether a quorum holds it"))))
	got, err := json.Marshal(l)
	want := `{"db":3,"key":"k\\xff","type":"string","state":"held","holder":"1f2e","client":{"id":7,"address":"a:1","name":"joe","library":"redis-py 5","user":"app"},"proxy":"p1",` +
		`"since":"2026-03-01T00:00:01.500Z","until":"2026-03-01T00:00:03.500Z","leftMs":1500,"ttlMs":2000,"votes":["granted","refused","unknown","refused","unknown","unknown","unknown"],` +
		`"has":["holds it","nothing","no answer","another value","error: LOADING","not known","a value, it is not known whether a quorum holds it"],"extensions":2,"refusals":4,"waiters":1,"wanted":[{"client":"client 8 at a:2","times":5,"everyMs":50,"lastMs":7}]}`
	if string(got) != want || err != nil {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func TestOfALockThatNobodyKnowsThereIsNoClientAndNoTime(t *testing.T) {
	l := lockOf(commands.Map(commands.Bulk("key"), commands.Bulk("k"), commands.Bulk("state"), commands.Bulk("held"), commands.Bulk("client-addr"), commands.Bulk(""),
		commands.Bulk("since"), commands.Bulk(""), commands.Bulk("until"), commands.Bulk(""), commands.Bulk("left-ms"), commands.Integer(-1)))
	if l.Client != nil || !time.Time(l.Since).IsZero() || !time.Time(l.Until).IsZero() || l.TTL != 0 || l.Left != 0 || l.State != page.Held {
		t.Errorf("%+v", l)
	}
}

func TestWhatAnOrderHasComeToIsASentence(t *testing.T) {
	for want, reply := range map[string]commands.Reply{
		"it is freed": commands.Integer(1), "nobody held it": commands.Integer(0), "OK, but": commands.Simple("OK, but"),
	} {
		if got := saidOf(reply); !strings.HasPrefix(got, want) {
			t.Errorf("%+v: %q", reply, got)
		}
	}
}
