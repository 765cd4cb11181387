package commands

import "testing"

// TestWhatDeletesAKeyMayFreeALock, also where that is one thing of many that a script or a
// transaction does. Of a single command its requests tell it.
func TestWhatDeletesAKeyMayFreeALock(t *testing.T) {
	for _, c := range []struct {
		line  string
		frees bool
	}{
		{`EVAL "redis.call('del', KEYS[1]) redis.call('publish', 'free', '')" 1 k`, true},
		{`EVAL "local free = 'UnLink' return redis.call(free, unpack(KEYS))" 2 k j`, true},
		{`EVAL "return redis.call('incr', KEYS[1]) -- and not del" 1 k`, false},
		{`EVAL "return redis.call('get', 'delta')" 0`, false},
		{`EVAL_RO "if false then redis.call('del', KEYS[1]) end return 1" 1 k`, false},
	} {
		s := NewDialect(Options{}).Session(1)
		if a := do(t, s, c.line); a.Frees != c.frees {
			t.Errorf("%s: frees is %t", c.line, a.Frees)
		}
	}
	for _, c := range []struct {
		frees bool
		lines []string
	}{
		{true, []string{"INCR m", "DEL k"}},
		{true, []string{"UNLINK k j", "PING"}},
		{true, []string{"SET j v PX 9000", "PEXPIRE k -1"}},
		{true, []string{`EVAL "redis.call('del', KEYS[1]) redis.call('publish', 'free', '')" 1 k`}},
		{false, []string{"INCR m", "SET k v PX 9000", "EXPIRE k 9"}},
		{false, []string{"SET DEL v PX 9000", "GET k"}},
	} {
		s := NewDialect(Options{}).Session(1)
		if a := exec(t, s, c.lines...); a.Frees != c.frees {
			t.Errorf("%q: frees is %t", c.lines, a.Frees)
		}
	}
}
