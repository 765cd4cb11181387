package commands

import (
	"reflect"
	"testing"
)

func TestClientFiltersAreReadInAnyOrder(t *testing.T) {
	for line, want := range map[string]Effect{
		"CLIENT INFO":               ClientInfoEffect{},
		"CLIENT LIST":               ClientListEffect{},
		"client list type SLAVE":    ClientListEffect{ClientFilter{Type: "replica"}},
		"CLIENT LIST type Pubsub":   ClientListEffect{ClientFilter{Type: "pubsub"}},
		"CLIENT LIST ID 3 -1 3":     ClientListEffect{ClientFilter{IDs: []int64{3, -1, 3}}},
		"CLIENT KILL 10.0.0.1:1234": ClientKillEffect{Filter: ClientFilter{Addr: "10.0.0.1:1234"}, Old: true},
		"CLIENT KILL ID 3":          ClientKillEffect{Filter: ClientFilter{IDs: []int64{3}, SkipMe: true}},
		"CLIENT KILL SKIPME no maxage 5 laddr a:1 ADDR b:2 user default type master id 3 ID 4": ClientKillEffect{Filter: ClientFilter{
			IDs: []int64{4}, Type: "master", Addr: "b:2", LAddr: "a:1", User: "default", MaxAge: 5}},
		"CLIENT KILL SKIPME no SKIPME YES TYPE replica": ClientKillEffect{Filter: ClientFilter{Type: "replica", SkipMe: true}},
	} {
		if a := do(t, NewDialect(Options{}).Session(1), line); !reflect.DeepEqual(a.Effect, want) {
			t.Errorf("%s\ngot  %+v, %q\nwant %+v", line, a.Effect, a.Reply.Str, want)
		}
	}
}
