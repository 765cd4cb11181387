package lua

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"redlock-proxy/integration"
)

// master is a real Redis, which is asked whether Read and the printer are right.
type master struct {
	*integration.Client
	kept int // scripts that it was given since it forgot them
}

func newMaster(t testing.TB) *master {
	t.Helper()
	redis, err := integration.StartRedis(integration.RedisOptions{Unix: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := redis.Stop(); err != nil {
			t.Error(err)
		}
	})
	client, err := integration.Dial(redis.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return &master{Client: client}
}

// do asks for one reply, and has Redis forget its scripts now and then: it keeps every
// script that it was ever sent.
func (m *master) do(t testing.TB, args ...string) any {
	t.Helper()
	if m.kept++; m.kept > 1000 {
		m.kept = 0
		m.do(t, "SCRIPT", "FLUSH")
	}
	reply, err := m.Do(args...)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// compile is what Redis says against a text, "" if nothing.
func (m *master) compile(t testing.TB, text string) string {
	t.Helper()
	if failure, failed := m.do(t, "SCRIPT", "LOAD", text).(integration.Failure); failed {
		return strings.TrimSpace(strings.TrimPrefix(string(failure), "ERR "))
	}
	return ""
}

// guards do what a printed script asks for and bound nothing.
var guards = map[string]string{
	"index":        "function(a,k) return a[k] end",
	"method":       "function(o,f,...) return o[f](o,...) end",
	"number":       "function(x) return x end",
	"less":         "function(a,b) return a<b end",
	"lessequal":    "function(a,b) return a<=b end",
	"greater":      "function(a,b) return a>b end",
	"greaterequal": "function(a,b) return a>=b end",
	"varargs":      "function(...) return ... end",
	"values":       "function(...) return ... end",
	"table":        "function(n,m,t) return t end",
	"set":          "function(a,k,v) a[k]=v end",
	"sets": `function(kinds,...) local all,at,locals={...},0,{} for i=1,#kinds do if string.sub(kinds,i,i)=="t" then at=at+2 end end ` +
		`local pair,n=at,0 for i=#kinds,1,-1 do if string.sub(kinds,i,i)=="t" then all[pair-1][all[pair]]=all[at+i] pair=pair-2 else n=n+1 end end ` +
		`local l=0 for i=1,#kinds do if string.sub(kinds,i,i)=="l" then l=l+1 locals[l]=all[at+i] end end return unpack(locals,1,n) end`,
	"global":    `function(n) error("Script attempted to access nonexistent global variable '"..n.."'",2) end`,
	"setglobal": `function() error("Attempt to modify a readonly table",2) end`,
	"join": `(function() local function join(a,...) if select("#",...)==1 then return a..(...) end return a..join(...) end ` +
		`return join end)()`,
}

// whole puts a program where it runs. Its first line is the script's, and what is raised by
// a guard has that line.
func whole(p *Program) string {
	var b strings.Builder
	b.WriteString("local KEYS,ARGV,__h,__t,__x=KEYS,ARGV,{")
	for _, name := range p.Helpers {
		if text, ok := guards[name]; ok {
			fmt.Fprintf(&b, "%s=%s,", name, text)
		} else {
			fmt.Fprintf(&b, "%s=%s,", name, strings.Replace(name, "_", ".", 1))
		}
	}
	b.WriteString(`},1e9,function() error("spent",0) end return (function(...) ` + p.Body + "\nend)()")
	return b.String()
}

// TestWhatRedisHasIsKnownOrRefused: what Redis has more would be nil to a script.
func TestWhatRedisHasIsKnownOrRefused(t *testing.T) {
	m := newMaster(t)
	members := func(of string) []any {
		return m.do(t, "EVAL", "local t={} for k in pairs("+of+") do t[#t+1]=k end return t", "0").([]any)
	}
	for name, lib := range libraries {
		known := 0
		for _, member := range members(name) {
			if !lib.known[member.(string)] && !lib.refused[member.(string)] {
				t.Errorf("%s.%s", name, member)
			}
			if lib.known[member.(string)] {
				known++
			}
		}
		if known != len(lib.known) {
			t.Errorf("Redis has %d of the %d known names of %s", known, len(lib.known), name)
		}
	}
	for _, member := range members("_G") {
		name := member.(string)
		if _, lib := libraries[name]; !lib && !globals[name] && !refusedGlobals[name] && name != "KEYS" && name != "ARGV" && !strings.HasPrefix(name, "__") {
			t.Error(name)
		}
	}
	for _, member := range members("string") {
		if !methods[member.(string)] {
			t.Errorf("strings have a field %s", member)
		}
	}
}

// stricter is what Read says of texts that some master compiles: it bounds more, and refuses
// what masters read differently.
var stricter = regexp.MustCompile(`syntax levels|too complex|has more than|malformed number near '0[xX]|nesting of|ambiguous syntax`)

// checkCompiles holds that Redis compiles a text if Read reads it and no other, and
// compiles what is printed. It tells whether the text was read.
func (m *master) checkCompiles(t testing.TB, text string) bool {
	t.Helper()
	p, err := Read(text)
	if err == nil {
		if fault := m.compile(t, text); fault != "" {
			t.Errorf("Read reads what Redis refuses: %s\n%s", fault, text)
		}
		if fault := m.compile(t, whole(p)); fault != "" {
			t.Errorf("Redis refuses what is printed: %s\n%s\n%s", fault, text, whole(p))
		}
		return true
	}
	refused := err.(*Error)
	if fault := m.compile(t, text); strings.HasPrefix(refused.Text, "Error compiling") && refused.Text != fault && !stricter.MatchString(refused.Text) {
		t.Errorf("Read says %q\nRedis says %q\n%q", refused.Text, fault, text)
	}
	return false
}

// Every lock script that we know is read if Redis compiles it. Of the attacks, some name
// what they may not; the others are what helpers and ticks are for.
func TestLockScriptsAreReadAndAttacksAreBounded(t *testing.T) {
	m := newMaster(t)
	for _, text := range lockScripts(t) {
		if strings.HasPrefix(text, "#!") {
			text = text[strings.IndexByte(text, '\n'):]
		}
		if !m.checkCompiles(t, text) && m.compile(t, text) == "" {
			t.Errorf("not read: %s", text)
		}
	}
	refused := 0
	for _, text := range attacks(t) {
		if !m.checkCompiles(t, text) {
			refused++
		}
	}
	if want := 33; refused != want {
		t.Errorf("%d attacks are refused as they are read, want %d", refused, want)
	}
}

// oddities are texts that tell Lua's grammar from its neighbours.
var oddities = []string{
	"return 1;", ";", "local a;;", "return 1;;", "do return end return 2", "return 1 return 2", "break", "while 1 do break return end", "while 1 do break; end",
	"while 1 do local function f() break end end", "goto = 1", "goto a", "::a::", "local goto goto = 1", "local a = 1 // 2", "return 1 != 2", "return ~1", "return 1 & 2",
	"--[==x\nreturn 1", "--[==[ x ]=] ]==] return 1", "--[[ x", "--[=[ [[ ]=] return 1", "--[", "--", "return --x", "return [==x", "return [=[ [[ ]=]", "return [[]]", "return [[\n\r\n]]", "return [[\n\n]]", "return [[x",
	"return 'a\\\nb'", "return 'a\nb'", "return 'a\\", "return 'a\\300'", "return '\\q\\x41\\u{41}\\z  '", "return '\\1234'", `return "a`, "return '\\\r\nb'",
	"return 1.", "return .5", "return 1..2", "return 1 ..2", "return 1e", "return 1e+", "return 1e5x", "return 0x", "return 0xg", "return 0XfF", "return 08", "return 1e5e5", "return 3.1.4", "return 1_000", "return 1e400", "return 0x.5", "return 0xe+1", "return 5 .. 6",
	"local a\n(a)()", "local a = a\n(a)()", "local a = f\n(1)", "local a = 'x' (a)()", "f\n'x'", "f\n{}", "local a a\n.b()", "local a a.b\n:c()", "local a a:b\n()", "f()\n()", "local a = {f\n(1)}", "local a = {f (1)}",
	"a", "a.b", "a = ", "a b", "a, b", "a, f() = 1, 2", "f() = 1", "(a) = 1", "(a).b = 1", "('x').y = 1", "'x'.y = 1", "'x':f()", "({}).x = 1", "{}.x = 1", "function() end", "(function() end)()", "(f)", "a.b:c = 1", "a:b", "f().x = 1", "f() ()", "a.b.c, d[1] = 1",
	"local function a.b() end", "function a.b:c.d() end", "function a:b() end", "function (a) end", "local 1", "local a.b = 1", "local a, = 1", "local a = 1,", "local function 1() end",
	"return function(a, ...) return ... end", "return function(..., a) end", "return function(a,) end", "return function(1) end", "return function() return ... end", "return ...", "local function f() return ... end",
	"if a then else elseif b then end", "if a then elseif b then else end", "if a end", "if a\nthen\n", "for a do end", "for a = 1 do end", "for a = 1, 2, 3, 4 do end", "for a, b = 1, 2 do end", "for a.b in c do end", "for a in b, c, d, e do end", "for 1 = 2, 3 do end", "repeat until", "repeat local a until a", "while do end", "while a end",
	"return {1, 2; 3, a = 4, [5] = 6, f(), }", "return {,}", "return {;}", "return {1,,2}", "return {[1] 2}", "return {a = }", "return {1 2}", "return {a b}", "return {a.b = 1}", "return {\n1\n", "return {[1", "f(1,)", "f(,)", "f(1", "f(\n1\n", "return (1", "return (\n1\n",
	"return not not 1 == 2 ^ -3 ^ 4 .. 5 .. 6 < 7 and 8 or 9", "return - - 1", "return --1", "return 1 + ", "return + 1", "return #'x' % 2", "return 2 ^ - 3", "return a.end", "return a.1", "return a.goto", "return {end = 1}", "return {goto = 1}", "return a:end()",
	"end", "return end", "until", "else", "return 1 end", "return @", "return $", "return `x`", "return 1 \x01", "return \x7f", "é = 1", "return 'é'", "return\v\f1", "local a = 1\rlocal b\r\n\rlocal c local", "and", "local and = 1", "return nil, true, false", "nil = 1", "true()",
	"function f() end f()", "function f.a.b.c.sub() end", "local a a.sub.len.x, a[1][2] = 1, 2", "local a a.sub = a.sub.sub", "local a return a.sub().len:x().y", "x, y, z = ...", "local a a, x.sub.y = 1",
}

func TestOdditiesAreReadAsRedisReadsThem(t *testing.T) {
	m := newMaster(t)
	read := 0
	for _, text := range oddities {
		if m.checkCompiles(t, text) {
			read++
		}
	}
	if read < 60 || read > len(oddities)-60 {
		t.Errorf("%d of %d oddities are read", read, len(oddities))
	}
}

// replyText shows a reply with what may differ between a script and what is printed of it
// left out: how a function is called, and where a guard is.
func replyText(reply any) string {
	failure, failed := reply.(integration.Failure)
	if !failed {
		return placeInError.ReplaceAllString(namesInError.ReplaceAllString(fmt.Sprintf("%q", reply), "$2"), "")
	}
	text, _, _ := strings.Cut(string(failure), " script: ")
	return "! " + namesInError.ReplaceAllString(text, "$2")
}

var (
	namesInError = regexp.MustCompile(`(?:local|global|upvalue|field|method|bad argument #\d+ to|calling) '[^']*'( on bad self)?(?: \((a \w+ value)\))?|-?nan`)
	placeInError = regexp.MustCompile(`user_script:\d+: `)
)

// checkMeans holds that a program does what its text does.
func (m *master) checkMeans(t testing.TB, text string) string {
	t.Helper()
	p, err := Read(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	keys := []string{"1", "key", "3", "value"}
	want := replyText(m.do(t, slices.Concat([]string{"EVAL", text}, keys)...))
	got := replyText(m.do(t, slices.Concat([]string{"EVAL", whole(p)}, keys)...))
	// What is raised by a guard is on the first line.
	if got != want && (!strings.Contains(got, "user_script:1:") || placeInError.ReplaceAllString(got, "") != placeInError.ReplaceAllString(want, "")) {
		t.Errorf("it answers\n%s\nand as it is printed\n%s\n%s\n%s", want, got, text, whole(p))
	}
	return want
}
