package commands

import (
	"fmt"
	"testing"
)

func TestKeysListsThemAtOnceWithinBounds(t *testing.T) {
	s := newShelves(3)
	d := NewDialect(Options{Users: everybodyOperates})
	for i := range 3000 {
		s.masters[i%2].keys[fmt.Sprint("k", i)] = true
		s.masters[2].keys[fmt.Sprint("k", i)] = true
		s.masters[0].keys[fmt.Sprint("minority", i)] = true
	}
	s.masters[1].keys["redlock-proxy:{x}"] = true
	s.masters[2].keys["redlock-proxy:{x}"] = true
	reply := s.carryOut(d.Session(1).Do([]string{"KEYS", "*"}))
	if len(reply.Elems) != 3000 {
		t.Errorf("%d keys are listed", len(reply.Elems))
	}
	// 9 pages of three masters at most, and each key is read once or, if it is a
	// minority's, as often as it is named.
	if s.requests > 9+6000 {
		t.Errorf("%d requests", s.requests)
	}
	d.maxKeys = 500
	reply = s.carryOut(d.Session(1).Do([]string{"KEYS", "*"}))
	if want := "ERR KEYS lists no more than 500 keys, and looks at no more than about 2000000: use SCAN"; reply.Str != want {
		t.Errorf("%d keys, %q", len(reply.Elems), reply.Str)
	}
}
