package commands

import (
	"strings"
	"testing"
)

// Names of keys are read many at once, by who lists keys or gives a master back what it lost.
func TestLongNamesOfKeysAreRefused(t *testing.T) {
	most, long := strings.Repeat("k", maxKeyName), strings.Repeat("k", maxKeyName+1)
	for _, words := range [][]string{
		{"SET", "", "v", "NX", "PX", "10000"},
		{"MSET", "a", "1", "", "2"},
		{"INCR", ""},
		{"HSET", "", "f", "v"},
		{"DEL", "a", "b", ""},
		{"EVAL", "return redis.call('set', KEYS[2], 'v')", "2", "a", ""},
		{"GET", ""},
	} {
		for key, refused := range map[string]bool{most: false, long: true} {
			argv := append([]string(nil), words...)
			for i := range argv {
				if argv[i] == "" {
					argv[i] = key
				}
			}
			a := NewDialect(Options{}).Session(1).Do(argv)
			if got := a.Reply.Str == "ERR the name of a key is longer than 65536 bytes"; got != refused || refused && len(a.Requests) > 0 {
				t.Errorf("%q of %d bytes is answered %.100v", words, len(key), a.Reply)
			}
		}
	}
	s := NewDialect(Options{}).Session(1)
	for _, argv := range [][]string{{"MULTI"}, {"SET", long, "v"}} {
		s.Do(argv)
	}
	if a := s.Do([]string{"EXEC"}); !strings.HasPrefix(a.Reply.Str, "EXECABORT") {
		t.Errorf("it was queued: %v", a.Reply)
	}
}
