package integration

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What a client's script may do to a master, and to others.

// spentBy is the processor time in milliseconds that a server takes for something.
func spentBy(t *testing.T, r *Redis, something func()) float64 {
	t.Helper()
	spent := func() float64 {
		var told string
		eventually(t, func() error { // a script that is slow today makes it BUSY
			if told = fmt.Sprint(ask(t, r, "INFO", "cpu")); !strings.Contains(told, "used_cpu_user:") {
				return fmt.Errorf("asked what processor time it has taken, a server says %s", told)
			}
			return nil
		})
		sum := 0.0
		for line := range strings.SplitSeq(told, "\r\n") {
			if name, value, ok := strings.Cut(line, ":"); ok && (name == "used_cpu_user" || name == "used_cpu_sys") {
				seconds, err := strconv.ParseFloat(value, 64)
				if err != nil {
					t.Fatal(err)
				}
				sum += 1000 * seconds
			}
		}
		return sum
	}
	before := spent()
	something()
	return spent() - before
}

// seen is what of a master no script may change: its process, all that it holds but the
// script's own key, and how it turns tables into JSON.
func seen(t *testing.T, r *Redis) map[string]string {
	s := map[string]string{
		"databases": fmt.Sprint(ask(t, r, "INFO", "keyspace")),
		"json":      fmt.Sprint(ask(t, r, "EVAL", "return {cjson.encode({1, 2.5, a = {}}), #cjson.encode({1/3}), type(cjson.decode('[1]'))}", "0")),
	}
	for line := range strings.SplitSeq(fmt.Sprint(ask(t, r, "INFO", "server")), "\r\n") {
		if id, ok := strings.CutPrefix(line, "run_id:"); ok {
			s["run id"] = id
		}
	}
	for _, key := range ask(t, r, "KEYS", "*").([]any) {
		if key != "wall:k" {
			s["key "+fmt.Sprint(key)] = fmt.Sprint(ask(t, r, "DUMP", fmt.Sprint(key)))
		}
	}
	return s
}

// Each of these broke something once: a master, its settings, others' keys, or the time of
// everybody else. A loop of a million turns is what they are measured against.
func TestHostileScriptsAreTheirCallersBusinessAlone(t *testing.T) {
	t.Parallel()
	const parts = 4
	texts := append(attacks(t), collisions()...)
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			w := startWall(t)
			for i := part; i < len(texts); i += parts {
				// Seldom asked for, and then often.
				for range 6 {
					w.run(texts[i])
				}
			}
			w.check()
		})
	}
}

// What a step may take a master is judged where there are so many that nothing else counts.
func TestAStepIsWorthWhatItTakes(t *testing.T) {
	w := startWall(t, "--script-steps", "100000")
	const (
		numeral = `local s = '0.' .. ('9'):rep(240) .. 'e-300' `
		hash    = `for i = 1, 512, 16 do local t = {} for j = i, i + 15 do t[#t + 1] = ('f'):rep(59) .. string.format('%05d', j) t[#t + 1] = ('v'):rep(64) end redis.call('HSET', KEYS[1], unpack(t)) end `
		scores  = `for i = 1, 128, 16 do local t = {} for j = i, i + 15 do t[#t + 1] = j t[#t + 1] = ('m'):rep(59) .. string.format('%05d', j) end redis.call('ZADD', KEYS[1], unpack(t)) end `
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

// attacks are scripts that broke something once.
func attacks(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("../commands/lua/testdata/attacks.txt")
	must(t, err)
	var texts []string
	for line := range strings.Lines(string(b)) {
		texts = append(texts, strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n"))
	}
	return texts
}

// wall is masters, a proxy, and what of the masters no script may change.
type wall struct {
	*testing.T
	masters []*Redis
	p       *Proxy
	c       talk
	before  []map[string]string
	million float64 // what a loop of a million turns takes a master, in milliseconds
	most    float64 // what the costliest script did
	costly  string
}

func startWall(t *testing.T, args ...string) *wall {
	t.Helper()
	w := &wall{T: t}
	w.masters, w.p = startQuorum(t, 3, append([]string{"--acquire-timeout", "20s", "--master-timeout", "20s", "--max-ttl", "5m"}, args...)...)
	w.c = dial(t, w.p.Addr)
	w.c.want("OK", "SET", "wall:other", "x")
	for _, m := range w.masters {
		// That is the last that a proxy writes into a marker without being made to.
		eventually(t, func() error {
			if logs, err := othersLogs(t, m); err != nil || len(logs) != len(w.masters)-1 {
				return fmt.Errorf("the marker tells of the others' logs: %v, %v", logs, err)
			}
			return nil
		})
		w.before = append(w.before, seen(t, m))
	}
	w.million = math.MaxFloat64
	for range 3 {
		w.million = min(w.million, w.loop())
	}
	return w
}

// loop is what a loop of a million turns takes a master now, in milliseconds.
func (w *wall) loop() float64 {
	return spentBy(w.T, w.masters[0], func() {
		ask(w.T, w.masters[0], "EVAL", "local n = 0 for i = 1, 1000000 do n = n + i end return n", "0")
	})
}

// run has a script run, and holds that it takes a master no longer than it may.
func (w *wall) run(text string) any {
	w.Helper()
	return w.within(10, 20, text)
}

// within has a script run, and holds that it takes a master at most so many times a loop of a
// million turns, and some milliseconds.
func (w *wall) within(turns, more float64, text string) (reply any) {
	w.Helper()
	spent := w.judge(turns, more, text, func() { reply = w.c.do("EVAL", text, "1", "wall:k", "1", "two", "3") }, func() { w.c.do("DEL", "wall:k") })
	if spent > w.most {
		w.most, w.costly = spent, text
	}
	return reply
}

// judge has something done, and holds the same of that. What another program on the machine
// slows down takes more processor time, too: so it is tried again, beside loops of that moment.
func (w *wall) judge(turns, more float64, what string, something, after func()) (spent float64) {
	w.Helper()
	million := w.million
	for range 5 {
		spent = spentBy(w.T, w.masters[0], something)
		after()
		if spent <= turns*million+more {
			return spent
		}
		million = w.loop()
		if spent <= turns*million+more {
			return spent
		}
	}
	w.Errorf("a master takes %.1f ms, and %.1f for a loop of a million turns, with %.1000q", spent, million, what)
	return spent
}

// check holds that the masters are as they were.
func (w *wall) check() {
	w.Helper()
	for i, m := range w.masters {
		if after := seen(w.T, m); !maps.Equal(w.before[i], after) {
			w.Errorf("master %d was %v, and is %v", i, w.before[i], after)
		}
	}
	awaitVoting(w.T, w.p, 3)
	w.Logf("a million turns take a master %.1f ms, and %.1f at most: %.1000q", w.million, w.most, w.costly)
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

// collisions are attacks with strings that collide.
func collisions() []string {
	words := Colliding(4000)
	repeat := strings.Repeat
	quoted := func(n int) string { return `"` + strings.Join(words[:n], `","`) + `"` }
	keyed := func(n int) string { return strings.Join(words[:n], "=1,") + "=1" }
	lookups := " local x while true do " + repeat("x=t."+words[0]+" x=t."+words[1500]+" ", 10) + "end"
	texts := []string{
		"return {" + quoted(1990) + "}", "return {" + quoted(4000) + "}",
		"local t={" + keyed(1900) + "} return 1", "local t={" + keyed(4000) + "} return 1",
		"return #cjson.decode('[" + quoted(4000) + "]')",
		`local t=cjson.decode('{"` + strings.Join(words[:2000], `":1,"`) + `":1}')` + lookups,
		"local p={" + quoted(1990) + "} while true do local x " + repeat("x=p[1]..p[2] ", 5) + "end",
	}
	for _, n := range []int{400, 900, 1600, 1900} {
		texts = append(texts, "local t={"+keyed(n)+"}"+lookups)
	}
	// Cut out of longer ones, so that there is no word in the text that Lua does not need.
	for _, n := range []int{600, 1200, 3000} {
		text := "local t={} for _,s in ipairs({"
		for i := 0; i < n; i += 30 {
			text += `"` + strings.Join(words[i:i+30], "") + `",`
		}
		texts = append(texts, text+"}) do for i=1,#s,8 do t[s:sub(i,i+7)]=1 end end"+lookups,
			text+"}) do for i=1,#s,8 do t[#t+1]=s:sub(i,i+7) end end return #t")
	}
	// Functions that share variables with the one around them: Lua goes through those.
	name := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, ",a%d", i)
		}
		return b.String()[1:]
	}
	for _, n := range []int{60, 120, 180} {
		text := "local " + name(0, n) + " local f "
		for i := 0; i < n; i += 30 {
			text += "f=function() return " + name(i, i+30) + " end "
		}
		texts = append(texts, text+"while true do "+repeat("f=function() return "+name(0, 50)+" end ", 100)+"end",
			text+"while true do "+repeat("f=function() return "+name(0, 9)+" end ", 500)+"end")
	}
	// What Lua's own compiler goes through for each further one, if it may.
	texts = append(texts,
		"return 1"+repeat(" and 1", 9000), "local x "+repeat("x=x"+repeat(" and x", 500)+" ", 19),
		"if nil then"+repeat(" elseif 1 then", 4000)+" end", repeat("if nil then"+repeat(" elseif 1 then", 490)+" end ", 9),
		"while nil do "+repeat("do break end ", 4900)+"end", repeat("while nil do "+repeat("do break end ", 490)+"end ", 9),
	)
	// Numbers, packed: a map of so many whose two halves have the same sum.
	for _, n := range []int{24, 600, 1500} {
		text := fmt.Sprintf("local s='\\223\\000\\000\\%03d\\%03d", n>>8, n&255)
		for i := range n {
			text += "\\203"
			bits := math.Float64bits(1<<52 + float64(i)*(1<<32-1))
			for shift := 56; shift >= 0; shift -= 8 {
				text += fmt.Sprintf("\\%03d", bits>>shift&255)
			}
			text += "1"
		}
		texts = append(texts, text+"' local t=cmsgpack.unpack(s) for i=2^52+5000*(2^32-1),1e300,2^32-1 do local x "+repeat("x=t[i] ", 24)+"end")
	}
	return texts
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

// A script that is asked for seldom is run by a constant one, and later as itself.
func TestLuaSaysTheSameSeldomAndOften(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	direct := dial(t, startMasters(t, 1)[0].Addr)
	c := dial(t, p.Addr)
	for _, text := range []string{
		"return {#KEYS, #ARGV, KEYS[1], ARGV[1], ARGV[2]}",
		"return {redis.call('incr', KEYS[1]), redis.call('del', KEYS[1])}",
		"local n = 0 for i, v in ipairs(ARGV) do n = n + tonumber(v) end return n",
		"\n\nreturn redis.call('hget', KEYS[1])",
		"local t = {}\nlocal x = t.a.b return 1",
		"local s = ARGV[1] local k = 'upper' return {s:rep(3), s[k]('abc'), ('%d'):format(7), s:find('1', 1, true), (s:gsub('1', 'x'))}",
		"local ok, e = pcall(function() local x = nil + 1 end) return e",
		"\nredis.set_repl(9)", "redis.set_repl()", "return redis.set_repl({}, {})", "\nreturn {pcall(redis.set_repl, '-1')}", "redis.setresp('x')", "redis.setresp()", "redis.log({}, 'x')", "redis.log(4, 'x')", "redis.log(3)",
		"return {select('#', redis.set_repl('x')), select('#', redis.setresp(2)), select('#', redis.log(0.5, {}))}",
		"\nerror('x')", "\nerror({err = 'CODE x'})", "return nosuch", "nosuch = 1",
		"local function f(...) return select('#', ...), ... end return {f(1, nil, 3)}",
		"return {tostring(-0), tostring(0), -0 .. ''}", "local zero = 0 return {tostring(-0), zero}",
		"\nreturn assert(false)", "\nreturn assert(nil, 'm')", "\nreturn pairs(nil)", "\nreturn select(0)", "\nreturn error('x')", "\nreturn error('x', 2)",
		"local function f() return pairs(nil) end\nlocal x = f() return x", "return {pcall(function() return select(0) end)}", "\nreturn table.foreach(1)",
		"local t = {1, 2} table.insert(t, 5, 'x') return {#t, t[5], tostring(t[3])}", "return table.insert({}, 1)", "return table.insert({}, 1, 2, 3)",
		"local t = {1, 2} table.insert(t, -2, 'x') return {tostring(t[-2]), tostring(t[-1]), tostring(t[0]), t[1], t[2], tostring(t[3])}",
		"local t = {1, 2, 3} table.insert(t, 2, nil) return {tostring(t[1]), tostring(t[2]), tostring(t[3]), tostring(t[4])}",
		"local t = {} t[nil] = 1", "local t = {} t[0/0] = 1", "local t\nt.x = 1", "local t = {}\nt.x.y = 1", "local t = {} local a a, t.x.y = 1, 2", "local t = {} function t.a.b() end",
		"local i, t = 1, {} i, t[i] = i + 1, 20 return {i, t[1], tostring(t[2])}", "local t = {1, 2} t[1], t[2] = t[2], t[1] return t",
		"local t, n = {} t.a, n, t.b = (function() return 1, 2 end)() return {t.a, n, tostring(t.b)}", "local t = {} t.x = (function() end)() return tostring(t.x)",
		"local t = {a = 1, b = 2, 3} for k in pairs(t) do t[k] = nil end return tostring(next(t))",
		"local t = {} for i = 1, 100 do t['k' .. i] = i end t.k7 = nil local n = 0 for k, v in pairs(t) do n = n + v end return n",
		"local t = {" + strings.Repeat("1,", 40) + "x = 2} return {#t, t.x}",
		"local n, f = 0, string.gmatch('a1b2', '%a') while f() do n = n + 1 end return {n, tostring((f())), select('#', f())}",
		"local f = string.gmatch('a=1, b=2', '(%w+)=(%w+)()') return {f(), {f()}, {f()}}", "local t = {} for w in string.gmatch('^a^b', '^%a') do t[#t + 1] = w end return t",
		"local f = string.gmatch('ab', 'b%') local ok, e = pcall(f) local again, other = pcall(f) return {tostring(ok), tostring(again), tostring(e == other)}",
		"return {string.find(10203, 2), string.match(10203, 20), string.gsub(10203, 0, 7), string.find('x-5y', -5)}",
		"return {string.gsub('hello big world', '(%w)(%w*)', '%2%1%%%0'), string.gsub('abc', '()', '%1'), string.gsub('$name is $x', '%$(%w+)', {name = 'Lua', x = 1})}",
		"return {cmsgpack.unpack(cmsgpack.pack({1, {a = 2}}))[2].a, #cmsgpack.unpack('\\220\\001\\044' .. string.rep('\\192\\7', 150))}",
		"local d = 0 local function f(n) d = n if n > 0 then return (pcall(f, n - 1)) end return tostring({}) end return {f(190), d}",
		// Arrays, and such as have elements missing.
		"local s, t = 7, {} local function next(n) s = (s * 37 + 11) % 1009 return s % n + 1 end for i = 1, 400 do local k = next(5) if k < 3 then table.insert(t, next(#t + 1), i) elseif k == 3 then table.insert(t, i) elseif k == 4 and #t > 0 then table.remove(t, next(#t)) elseif #t > 50 then table.remove(t) end end return table.concat(t, ' ')",
		"local s, t = 7, {} for i = 1, 300 do s = (s * 37 + 11) % 1009 t[i] = s end table.sort(t) local u = table.concat(t, ' ') table.sort(t, function(a, b) return a % 10 > b % 10 or a % 10 == b % 10 and a < b end) return {u, table.concat(t, ' ')}",
		"local t = {'b', 'a', 'c'} table.sort(t) return t", "local t = {3, 'a', 1} table.sort(t)", "local t = {3, nil, 1} table.sort(t)", "local t = {{}, {}} table.sort(t)", "table.sort({3, 1, 2, 5, 4}, function(a, b) return true end)",
		"local t = {3, nil, 1, 2} table.sort(t, function(a, b) return (a or 0) < (b or 0) end) return {tostring(t[1]), t[2], t[3], t[4]}",
		"local t = {true, false, true} table.sort(t, function(a, b) return a and not b end) return {tostring(t[1]), tostring(t[2]), tostring(t[3])}",
		"local t = {1, 2, 3} table.sort(t, 1)", "table.sort(1)", "local t = {1} return {table.sort(t), tostring(table.sort(t))}",
		"local t = {1, nil, 3} table.insert(t, 1, 0) return {t[1], t[2], tostring(t[3]), t[4], #t}", "local t = {1, nil, 3} return {table.remove(t, 1), tostring(t[1]), t[2], tostring(t[3])}",
		"local t = {1, nil, 3} return {tostring(table.remove(t, 2)), t[1], t[2], tostring(t[3])}", "local t = {1, nil, 3} table.insert(t, 3, nil) return {t[1], tostring(t[2]), tostring(t[3]), t[4]}",
		"local t = {1, 2} return {select('#', table.remove({})), select('#', table.remove({}, 1)), select('#', table.remove(t, 3)), select('#', table.remove(t, 0)), table.remove(t), table.remove(t, 1), #t}",
		"return table.insert({1, 2}, nil, 3)", "local t = {1} table.insert(t, nil) table.insert(t, 2, nil) table.insert(t, 5, nil) return #t", "local t = {[-1] = 'a', [0] = 'b', 'c', 'd'} table.insert(t, -1, 'x') return {t[-1], t[0], t[1], t[2], t[3]}",
		"local t = {} t.x = nil t[0/0] = nil", "local t = {} t[nil] = nil", "local t = {1, 2, 3} t[4] = nil t[2] = nil t[2] = nil return {t[1], tostring(t[2]), t[3], #t}",
		"return {cjson.encode({1, 'a', {b = 2}}), cjson.decode('{\"a\":[1,2]}').a[2], bit.band(7, 5), math.floor(2.7), table.concat({1, 2, 3}, '-')}",
	} {
		args := []string{"EVAL", text, "1", "k", "1", "2"}
		want := fmt.Sprint(direct.do(args...))
		for i := range 8 {
			if got := fmt.Sprint(c.do(args...)); !alikeButForNames(got, want) {
				t.Errorf("call %d of %q is answered %q, on one Redis %q", i, text, got, want)
			}
		}
	}
}

// alikeButForNames tells that two texts are the same, but for how Lua's errors name what is
// nil: it is a variable of the script at Redis, and of a helper here.
func alikeButForNames(got, want string) bool {
	return nameOfNil.ReplaceAllString(got, "$1 a nil value") == nameOfNil.ReplaceAllString(want, "$1 a nil value")
}

var nameOfNil = regexp.MustCompile(`(attempt to (?:index|perform arithmetic on)) \w+ '[^']*' \(a nil value\)`)

// Redis takes what is no number for 0, which is REPL_NONE, and of 3.5 the 3. A master that keeps
// a lock from its disk forgets it in a crash, and how long a reply is cannot be told where RESP3
// has another form for it.
func TestScriptsNeitherKeepAWriteFromTheDiskNorChooseAProtocol(t *testing.T) {
	t.Parallel()
	masters := durableMasters(t, 3)
	p := startProxy(t, flags(masters)...)
	one := dial(t, startMasters(t, 1)[0].Addr)
	c := dial(t, p.Addr)
	var written []string
	for _, name := range []string{"set_repl", "setresp", "log"} {
		for _, value := range []string{
			"redis.REPL_NONE", "redis.REPL_AOF", "redis.REPL_ALL", "nil", "true", "'x'", "''", "{}", "function() end", "-0.5", "-0", "-1", "0.9", "1", "1.9", "2", "'2'", "'2.5'", "'0x3'",
			"3", "3.5", "'3.5'", "' 3e0 '", "3.999999999", "4", "2^31", "2^32", "2^32+3", "-2^32", "1e300", "1/0", "-1/0", "0/0", "'nan'", "('3'):rep(250)", "", "3, 3", "nil, nil", "{}, {}",
		} {
			chosen := "redis." + name + "(" + value + ")"
			if name == "log" && value != "" {
				chosen = "redis.log(" + value + ", 'a message')"
			}
			begin := "local ok = pcall(function() " + chosen + " end) "
			want := fmt.Sprintf("[%v 2 nil]", one.do("EVAL", begin+"return tostring(ok)", "0"))
			key := fmt.Sprint("written ", len(written))
			text := begin + "redis.call('hset', KEYS[1], 'f', 'v') local r = redis.call('hgetall', KEYS[1]) return {tostring(ok), #r, tostring(r.map)}"
			if got := fmt.Sprint(c.do("EVAL", text, "1", key)); got != want {
				t.Errorf("%s is answered %s, want %s", text, got, want)
			}
			written = append(written, chosen)
		}
	}
	for _, m := range masters {
		// One of them may be behind the others, and what was sent to it first is there first.
		eventually(t, func() error {
			if ask(t, m, "EXISTS", fmt.Sprint("written ", len(written)-1)) != int64(1) {
				return errors.New("a master has not carried out all that was written")
			}
			return nil
		})
		must(t, m.Kill())
		must(t, m.Restart())
		for i, chosen := range written {
			if ask(t, m, "EXISTS", fmt.Sprint("written ", i)) != int64(1) {
				t.Errorf("a master has not kept what was written after %s", chosen)
			}
		}
	}
}

// What a script may name is what Redis has by that name.
func TestNamesOfAScriptAreThoseOfRedis(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	direct := dial(t, startMasters(t, 1)[0].Addr)
	c := dial(t, p.Addr)
	names := strings.Fields(`assert error ipairs next pairs pcall select tonumber tostring type unpack
		bit.arshift bit.band bit.bnot bit.bor bit.bswap bit.bxor bit.lshift bit.rol bit.ror bit.rshift bit.tobit bit.tohex
		cjson.decode cjson.encode cjson.null cmsgpack.pack cmsgpack.unpack
		math.abs math.acos math.asin math.atan math.atan2 math.ceil math.cos math.cosh math.deg math.exp math.floor math.fmod math.frexp
		math.huge math.ldexp math.log math.log10 math.max math.min math.mod math.modf math.pi math.pow math.rad math.random
		math.randomseed math.sin math.sinh math.sqrt math.tan math.tanh
		redis.call redis.error_reply redis.log redis.pcall redis.replicate_commands redis.set_repl redis.setresp redis.sha1hex redis.status_reply
		redis.LOG_DEBUG redis.LOG_NOTICE redis.LOG_VERBOSE redis.LOG_WARNING redis.REDIS_VERSION redis.REDIS_VERSION_NUM
		redis.REPL_ALL redis.REPL_AOF redis.REPL_NONE redis.REPL_REPLICA redis.REPL_SLAVE
		string.byte string.char string.find string.format string.gmatch string.gsub string.len string.lower string.match string.rep
		string.reverse string.sub string.upper struct.pack struct.size struct.unpack
		table.concat table.foreach table.foreachi table.getn table.insert table.maxn table.remove table.sort
		string.nosuch redis.nosuch math.nosuch`)
	for _, name := range names {
		if servers.Mixed() && strings.HasPrefix(name, "redis.REDIS_VERSION") {
			continue // each master has its own, and so there is no answer that two agree on
		}
		text := "return {type(" + name + "), type(" + name + ") == 'number' and tostring(" + name + ") or ''}"
		want := fmt.Sprint(direct.do("EVAL", text, "0"))
		for range 6 {
			if got := fmt.Sprint(c.do("EVAL", text, "0")); got != want {
				t.Errorf("%s is %s, on one Redis %s", name, got, want)
			}
		}
	}
}

// A master keeps every script that it has run. What clients think of once is not to fill it.
func TestScriptsThatAreAskedForSeldomLeaveNothingOnAMaster(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	kept := func() int {
		for line := range strings.SplitSeq(fmt.Sprint(ask(t, masters[0], "INFO", "memory")), "\r\n") {
			if n, ok := strings.CutPrefix(line, "number_of_cached_scripts:"); ok {
				kept, err := strconv.Atoi(n)
				if err != nil {
					t.Fatal(err)
				}
				return kept
			}
		}
		t.Fatal("the master does not say how many scripts it keeps")
		return 0
	}
	think := func(from, to int) {
		for i := from; i < to; i++ {
			c.want(i, "EVAL", fmt.Sprintf("return %d", i), "0")
			c.want("OK", "EVAL", fmt.Sprintf("return redis.call('set', KEYS[1], %d, 'px', 1000)", i), "1", "k")
		}
	}
	think(0, 20)
	before := kept()
	think(20, 500)
	// The constant scripts are few: there is one more for what a master hears of late.
	if n := kept(); n > before+3 {
		t.Errorf("a master keeps %d scripts more after 960 that were asked for once", n-before)
	}
	before = kept()
	for range 20 {
		c.want(1, "EVAL", "return 1", "0")
	}
	if n := kept(); n == before || n > before+3 {
		t.Errorf("a master keeps %d scripts more after one that was asked for often", n-before)
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

// Scripts that differ, each asked for once, fill neither a master nor the proxy.
func TestTwentyThousandScriptsTakeLittleMemory(t *testing.T) {
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	think := func(from, to int) {
		const atOnce = 50
		for i := from; i < to; i += atOnce {
			for j := range atOnce {
				text := fmt.Sprintf("-- %s\nlocal n = redis.call('incr', KEYS[1]) redis.call('pexpire', KEYS[1], ARGV[1]) return n + %d", strings.Repeat("lock ", 60), i+j)
				c.send("EVAL", text, "1", fmt.Sprint("k", i+j), "1000")
			}
			for j := range atOnce {
				if reply, err := c.Receive(); err != nil || reply != int64(i+j+1) {
					t.Fatalf("script %d is answered %v, %v", i+j, reply, err)
				}
			}
		}
	}
	sizes := func() map[string]int {
		s := map[string]int{"the proxy": residentBytes(t, p.Child)}
		for i, m := range masters {
			s[fmt.Sprint("master ", i)] = residentBytes(t, m.Child)
		}
		return s
	}
	think(0, 500)
	before := sizes()
	think(500, 20_500)
	for name, size := range sizes() {
		most := 32 << 20
		if raceEnabled && name == "the proxy" {
			most *= 6
		}
		t.Logf("%s has grown by %.1f MiB", name, float64(size-before[name])/(1<<20))
		if size-before[name] > most {
			t.Errorf("%s has grown from %d to %d MiB", name, before[name]>>20, size>>20)
		}
	}
}
