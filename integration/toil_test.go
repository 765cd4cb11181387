package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// What a step may take a master is judged where there are so many that nothing else counts.
func TestAStepIsWorthWhatItTakes(t *testing.T) {
	w := startWall(t, "--script-steps", "100000")
	const (
		numeral = `local s = '0.' .. ('9'):rep(240) .. 'e-300' `
		hash    = `for i = 1, 512, 16 do local t = {} for j = i, i + 15 do t[#t + 1] = ('f'):rep(59) .. string.format('%05d', j) t[#t + 1] = ('v'):rep(64) end redis.call('HSET', KEYS[1], unpack(t)) end `
		scores  = `for i = 1, 128, 16 do local t = {} for j = i, i + 15 do t[#t + 1] = j t[#t + 1] = ('m'):rep(59) .. string.format('%05d', j) end redis.call('ZADD', KEYS[1], unpack(t)) end `
		list    = `for i = 1, 10 do local t = {} for j = 1, 990 do t[j] = ('e'):rep(i) .. j end redis.call('RPUSH', KEYS[1], unpack(t)) end `
		absent  = `local t = {} for i = 1, 990 do t[i] = ('f'):rep(59) .. '99999' end `
	)
	for _, script := range []struct {
		turns         float64 // of a loop that is not counted: so many million are more than ten thousand steps
		before, again string
	}{
		// A pattern is gone through before it is matched.
		{4, `local f, p = string.find, ('a'):rep(255) .. '.'`, "f('', p)"},
		{4, `local f, p = string.find, '[' .. ('a'):rep(253) .. ']'`, "f('', p)"},
		{4, `local f, p = string.find, '[' .. ('a'):rep(29) .. ']'`, "f('', p)"},
		{4, `local f, p = string.find, ('.'):rep(250)`, "f('', p)"},
		{4, `local f, p = string.find, ('%a'):rep(120)`, "f('', p)"},
		{4, `local f, p = string.find, ('a'):rep(255)`, "f('', p)"},
		{4, `local f, p = string.match, '^' .. ('()'):rep(31)`, "f('', p)"},
		{4, `local f, p = string.match, '[' .. ('a'):rep(253) .. ']'`, "f('', p)"},
		{4, `local f, p = string.gmatch, '[' .. ('a'):rep(253) .. ']'`, "f('', p)"},
		{4, `local f, p = string.gsub, ('a'):rep(255) .. '.'`, "f('', p, '')"},
		{4, `local f, p = string.gsub, ('a'):rep(255) .. '.'`, "f('', p, f)"},
		{4, `local f, p = string.gsub, '[' .. ('a'):rep(253) .. ']'`, "f('', p, '')"},
		// So is a string that is taken for a number.
		{4, numeral + `local f = string.byte`, "f('', s, s)"},
		{4, numeral + `local f, t = unpack, {}`, "f(t, s, s)"},
		{4, numeral + `local f = string.rep`, "f('', s)"},
		{4, `local s, f = ('1'):rep(250), string.byte`, "f('', s, s)"},
		{4, `local f, s = select, '1.' .. ('9'):rep(240)`, "f(s)"},
		{4, `local f, s = tonumber, '1.' .. ('9'):rep(240)`, "f(1, s)"},
		// A command that says nothing is one.
		{4, `local f, s = redis.pcall, 'echo'`, "f(s)"},
		{4, `local f, s = redis.pcall, 'spublish'`, "f(s)"},
		// A field is looked for among all that a small hash has.
		{7, hash + absent, "redis.call('HDEL', KEYS[1], unpack(t))"},
		{7, hash + absent, "redis.call('HMGET', KEYS[1], unpack(t))"},
		{7, hash + absent + "for i = 1, 990, 2 do t[i], t[i + 1] = ('f'):rep(59) .. '00511', ('v'):rep(64) end", "redis.call('HSET', KEYS[1], unpack(t))"},
		{7, scores + absent + "for i = 1, 990, 2 do t[i], t[i + 1] = i, ('m'):rep(59) .. '00127' end", "redis.call('ZADD', KEYS[1], unpack(t))"},
		// An element of a list is searched for among all, or counted to.
		{7, list, "redis.call('LREM', KEYS[1], 0, 'x')"},
		{7, list, "redis.call('LPOS', KEYS[1], 'x')"},
		{7, list, "redis.call('LINSERT', KEYS[1], 'BEFORE', 'x', 'y')"},
		{7, list, "redis.call('LINDEX', KEYS[1], 4950)"},
		{7, list, "redis.call('LINDEX', KEYS[1], 64)"},
		{7, list, "redis.call('LSET', KEYS[1], 4950, 'e')"},
		{7, list, "redis.call('LRANGE', KEYS[1], 4700, 5200)"},
		{7, list, "redis.call('LTRIM', KEYS[1], 0, -1)"},
		{7, list, "redis.call('RPOPLPUSH', KEYS[1], KEYS[1])"},
		{7, list, "redis.call('LPOP', KEYS[1], 20)"},
		// What does next to nothing is a call.
		{4, `local f, t = table.sort, {1}`, "f(t)"},
		{4, `local f = cmsgpack.unpack`, "f('')"},
	} {
		text := script.before + " while true do " + strings.Repeat(script.again+" ", 150) + "end"
		if reply := fmt.Sprint(w.within(10*script.turns, 0, text)); reply != "ERR the script takes more than 100000 steps (script-steps)" {
			t.Errorf("%s; %s is answered %s", script.before, script.again, reply)
		}
	}
	w.check()
}

// TestScriptsThatToilAreKnown, whether they fail or not, and those that only fail are not.
func TestScriptsThatToilAreKnown(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for _, test := range []struct {
		text, n string
		toils   bool
	}{
		{"while true do end", "0", true},
		{"pcall(function() while true do end end) return 1", "0", true},
		{"for i = 1, ARGV[1] do end return 1", "2000", true},
		{"for i = 1, ARGV[1] do end return redis.call('set', KEYS[1], 'x')", "2000", true},
		{"for i = 1, ARGV[1] do end error('mine')", "2000", true},
		{"for i = 1, ARGV[1] do end redis.call('get', 'another')", "2000", true},
		{"for i = 1, ARGV[1] do end return 1", "500", false},
		{"return redis.error_reply('NOTYOURS')", "0", false},
		{"redis.call('get', 'another')", "0", false},
		{"return redis.call('set', KEYS[1], 'x')", "0", false},
	} {
		toiled := func() string {
			_, rest, _ := strings.Cut(c.text("INFO", "quorum"), "toiling_scripts:")
			n, _, _ := strings.Cut(rest, "\r")
			return n
		}
		before := toiled()
		c.do("EVAL", test.text, "1", "k", test.n)
		if after := toiled(); (before != after) != test.toils {
			t.Errorf("%s of %s: %s scripts had toiled before, and %s have", test.text, test.n, before, after)
		}
	}
}

// What a key was is kept before it is written to, and that of one that is no lock is much.
func TestScriptsThatWriteToALargeKeyAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	w := startWall(t)
	for _, m := range w.masters {
		ask(t, m, "EVAL", "for i=1,400000 do redis.call('SADD',KEYS[1],'member:'..i) end redis.call('SET',KEYS[2],('x'):rep(4000000))", "2", "large:set", "large:string")
	}
	for _, text := range []string{
		"return redis.call('SADD', 'large:set', 1)", "return redis.call('DEL', 'large:set')", "return redis.call('EXPIRE', 'large:set', 1000)",
		"return redis.pcall('SREM', 'large:set', 1)", "return redis.call('SMEMBERS', 'large:set')", "while true do pcall(redis.call, 'SET', 'large:set', 1) end",
		"for i = 1, 9 do redis.call('APPEND', 'large:string', ('x'):rep(60000)) end", "return redis.call('GET', 'large:string')",
		"return #redis.call('GETRANGE', 'large:string', 0, -1)", "for i = 1, 1e9 do redis.call('STRLEN', 'large:string') end",
	} {
		for range 6 {
			var reply any
			w.judge(10, 20, text, func() {
				reply = w.c.do("EVAL", strings.ReplaceAll(strings.ReplaceAll(text, "'large:set'", "KEYS[1]"), "'large:string'", "KEYS[2]"), "2", "large:set", "large:string")
			}, func() {})
			if refused := fmt.Sprint(reply); !strings.HasPrefix(refused, "ERR the script ") && !strings.HasPrefix(refused, "ERR the key takes more than 2 MiB") && !strings.Contains(text, "APPEND") {
				t.Errorf("%s is answered %.300s", text, refused)
			}
		}
	}
}

// A table that has elements under a number, its double, and so on up to the largest is one whose
// end Lua finds by counting, and no table gets so far.
func TestNoTablesEndIsFoundByCounting(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	const refused = "ERR the script has elements of one table under "
	for _, test := range []struct{ text, want string }{
		{"local t = {} t[2^29 + 2] = 1 t[2^30 + 4] = 1 return #t", refused + "1073741828 and"},
		{"local t = {} t[2^30 + 4] = 1 t[2^29 + 2] = 1 return #t", refused + "536870914 and"},
		{"local t, a = {[2^30 + 4] = 1} a, t[2^29 + 2] = 1, 1 return #t", refused + "536870914 and"},
		{"local t = {[2^30 + 4] = 1} table.insert(t, 2^29 + 2, 1) return #t", refused + "536870914 and"},
		{"local t = {[2^30 + 4] = 1, [2^29 + 2] = 1} return #t", refused},
		{`return #cmsgpack.unpack("\130\206\032\0\0\0\001\206\064\0\0\0\001")`, refused},
		{`return #cmsgpack.unpack("\145\130\206\032\0\0\0\001\206\064\0\0\0\001")`, refused},
		{"local t = {[1700000000] = 1, [2^30] = 1} t[1700000001], t[2^31] = 1, 1 return #t", "0"},
	} {
		if got := fmt.Sprint(c.do("EVAL", test.text, "0")); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s\nis answered %s, want %s", test.text, got, test.want)
		}
	}
}

// What a search takes is known before it is made: it is told from one that takes less.
func TestASearchTakesTheStepsOfWhatItDoes(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	const spent = "ERR the script takes more than 10000 steps (script-steps)"
	for _, test := range []struct{ text, want string }{
		// To gmatch, ^ is a character.
		{"for w in string.gmatch(('^'):rep(2000), '^^*b') do end return 1", spent},
		{"for w in string.gmatch(('^'):rep(1000), '^^*b') do end return 1", "1"},
		{"string.find(('^'):rep(2000), '^^*b') return 1", "1"},
		// What was captured is compared where it is to be found again.
		{"return tostring(string.find(('a'):rep(60000), '^(a*)%1b'))", spent},
		{"return string.find(('a'):rep(6000), '^(a*)%1$')", "1"},
		{"return string.match(('x'):rep(150) .. '\"hi\"', '([\"\\']).-%1')", `"`},
		// Plain text is compared byte by byte, but by find.
		{"return tostring(string.match(('a'):rep(30000), ('a'):rep(1000) .. 'b'))", spent},
		{"return tostring(string.match(('1'):rep(60000) .. 2, 11111111111112):rep(20))", strings.Repeat("11111111111112", 20)},
		{"for i = 1, 20 do string.match(('1'):rep(60000), 11111111111112) end return 1", spent},
		{"return tostring(string.find(('a'):rep(30000), ('a'):rep(1000) .. 'b'))", "nil"},
		{"return tostring(string.find(('.'):rep(30000), ('.'):rep(1000) .. 'b', 1, true))", "nil"},
		// A string that is put in has the places counted first.
		{"return #string.gsub(('a'):rep(8000), ('a'):rep(700) .. 'b', '')", spent},
		{"return #string.gsub(('a'):rep(8000), ('a'):rep(700) .. 'b', {})", "8000"},
	} {
		if got := fmt.Sprint(c.do("EVAL", test.text, "0")); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s\nis answered %s, want %s", test.text, got, test.want)
		}
	}
}

// NaN is less than no bound, and not more. What is counted with it would be counted no more.
func TestNoStepIsCountedWithNaN(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for i := range 6 {
		args := []string{"ZADD", "k"}
		for j := range 100 {
			args = append(args, fmt.Sprint(100*i+j), fmt.Sprint("member ", 100*i+j))
		}
		c.want(100, args...)
	}
	for _, read := range []string{
		"'ZRANGE', KEYS[1], 'nan', 5", "'ZRANGE', KEYS[1], 0, '-nan'", "'ZREVRANGE', KEYS[1], 0/0, 0/0", "'ZRANGE', KEYS[1], 'nan', 'inf'",
		"'ZRANGEBYSCORE', KEYS[1], 'nan', 5", "'ZRANGEBYSCORE', KEYS[1], 0, 9, 'LIMIT', 0, 'nan'", "'ZRANGEBYSCORE', KEYS[1], 0, 9, 'LIMIT', 0/0, 0/0", "'ZRANGE', KEYS[1], 0, 9, 'BYSCORE', 'LIMIT', 'nan', 1",
	} {
		text := "redis.pcall(" + read + ") local t = {} t.x = nil t.x = 1 t.x = nil t.y = 1 for i = 1, 1e7 do end return 'all'"
		if got := fmt.Sprint(c.do("EVAL", text, "1", "k")); got != "ERR the script takes more than 10000 steps (script-steps)" {
			t.Errorf("%s is answered %v", text, got)
		}
	}
}

// Somebody has a master run a script without end, and not through the proxy. Which it was is
// not told where it may have been another one, so only such as take long are in the SLOWLOG:
// on a busy machine others may.
func TestMasterThatIsBusyWithAScriptIsFreed(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	awaitVoting(t, p, 3)
	for _, setting := range [][2]string{{"lua-time-limit", "300"}, {"slowlog-log-slower-than", "200000"}} {
		direct(t, masters[1]).want("OK", "CONFIG", "SET", setting[0], setting[1])
	}
	for range 3 { // where the master, or we, stood still meanwhile it is not known which it was
		kills := strings.Count(p.Log(), "It was told SCRIPT KILL")
		reply := ask(t, masters[1], "EVAL", "local t = 'secret' while true do end -- endless", "0", "secret")
		if !strings.Contains(fmt.Sprint(reply), "killed by user") {
			t.Errorf("the script's caller is told %s", reply)
		}
		awaitVoting(t, p, 3)
		eventually(t, func() error {
			if strings.Count(p.Log(), "It was told SCRIPT KILL") == kills {
				return errors.New("the log does not say what ended the script")
			}
			return nil
		})
		if logged(p, "It was told SCRIPT KILL, and it ran EVAL") == nil {
			break
		}
	}
	must(t, logged(p, "It was told SCRIPT KILL, and it ran EVAL"))
	log := p.Log()
	if !strings.Contains(log, "-- endless") || strings.Contains(log, "secret") || strings.Contains(log, "RESP2") {
		t.Error("the log does not say whose script it was, or says too much, or what is not so")
	}
}
