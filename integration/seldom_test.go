package integration

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

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
	eventually(t, func() error { // this master may be later than the others
		for range 20 {
			c.want(1, "EVAL", "return 1", "0")
		}
		if kept() == before {
			return errors.New("a master does not keep a script that was asked for often")
		}
		return nil
	})
	if n := kept(); n > before+3 {
		t.Errorf("a master keeps %d scripts more after one that was asked for often", n-before)
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
