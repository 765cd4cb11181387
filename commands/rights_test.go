package commands

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/commands/acl"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// as is a session of a user with these rights.
func as(t *testing.T, d *Dialect, rules string) *Session {
	t.Helper()
	if err := d.users.Set("u", append([]string{"reset", "on", "nopass"}, strings.Fields(rules)...)); err != nil {
		t.Fatal(err)
	}
	s := d.Session(7)
	if a := s.Do([]string{"AUTH", "u", "any"}); a.Reply.Kind == ErrorReply {
		t.Fatal(a.Reply.Str)
	}
	return s
}

// denied is why the session may not do this, "" if it may.
func deniedFor(s *Session, args ...string) string {
	a := s.Do(args)
	if a.Forbidden == (acl.Denial{}) {
		return ""
	}
	if !a.Rejected || a.Reply.Kind != ErrorReply || len(a.Requests) > 0 || a.Effect != nil {
		return "denied, and yet carried out"
	}
	return a.Forbidden.Reason.String() + " " + a.Forbidden.Object
}

func TestRightsAreHeldFromBothSides(t *testing.T) {
	get, pexpire := "return redis.call('get', KEYS[1])", "return redis.call('pexpire', KEYS[1], 1)"
	release := "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end"
	for _, c := range []struct{ rules, command, want string }{
		// By key.
		{"~a:* +@lock", "SET a:1 v NX PX 100", ""},
		{"~a:* +@lock", "SET b:1 v NX PX 100", "key b:1"},
		{"~a:* +@lock", "MGET a:1 b:1", "key b:1"},
		{"%R~a:* +@lock", "GET a:1", ""},
		{"%R~a:* +@lock", "SET a:1 v", "key a:1"},
		{"%W~a:* +@lock", "SET a:1 v", ""},
		{"%W~a:* +@lock", "SET a:1 v GET", "key a:1"},
		{"%W~a:* +@lock", "SET a:1 get", ""},
		{"%W~a:* +@lock", "SET a:1 ifeq PX 100", ""},
		{"%W~a:* +@lock", "SET a:1 v IFEQ guess", "key a:1"},
		{"%W~a:* +@lock", "DELEX a:1 IFEQ guess", "key a:1"},
		{"%W~a:* +@lock", "DELEX a:1", ""},
		{"%W~a:* +@lock", "GET a:1", "key a:1"},
		{"%R~a:* +@lock", "DEL a:1", "key a:1"},
		{"~a:* +@lock", "WATCH b:1", "key b:1"},
		{"%R~a:* %W~b:* +@lock", "LMOVE a:1 b:1 LEFT LEFT", "key a:1"}, // it takes the element away there
		{"~a:* %W~b:* +@lock", "LMOVE a:1 b:1 LEFT LEFT", ""},
		{"~a:* %W~b:* +@lock", "RPOPLPUSH b:1 a:1", "key b:1"},
		{"~a:* %R~b:* +@lock", "RPOPLPUSH a:1 b:1", "key b:1"},
		{"%W~a:* +@lock", "LPUSH a:1 v", ""},
		{"%W~a:* +@lock", "LREM a:1 0 v", ""},
		{"%W~a:* +@lock", "LPOP a:1", "key a:1"},
		{"%R~a:* +@lock", "LPOP a:1", "key a:1"},
		{"~a:* +@all", "LOCK INFO b:1", "key b:1"},
		{"~a:* +@all", "LOCK FORCE b:1 HOLDER 0123456789abcdef", "key b:1"},
		{"~a:* +@all", "LOCK EXPLAIN b:1", "key b:1"},
		// By command and category.
		{"~* &* +@lock", "FLUSHALL", "command flushall"},
		{"~* &* +@lock", "LOCK DRAIN m", "command lock|drain"},
		{"~* &* +@lock", "ACL SETUSER u +@all", "command acl|setuser"},
		{"~* &* +@lock", "MONITOR", "command monitor"},
		{"~* &* +@lock", "CONFIG SET loglevel debug", "command config|set"},
		{"~* &* +@operate", "LOCK DRAIN m", ""},
		{"~* &* +@operate", "SET a v", "command set"},
		{"~* &* +@all -@operate", "KEYS *", "command keys"},
		{"~* &* +@all -set", "SET a v", "command set"},
		{"~* -@all +@list", "RPUSH a v", ""},
		{"~* +@all -@list", "RPUSH a v", "command rpush"},
		{"~* &* -@all +client|id", "CLIENT ID", ""},
		{"~* &* -@all +client|id", "CLIENT LIST", "command client|list"},
		{"-@all", "AUTH u x", ""},
		{"-@all", "PING", "command ping"},
		// By script, with keys, commands and channels.
		{"~a:* +@lock", "EVAL get 1 a:1", ""},
		{"~a:* +@lock", "EVAL get 1 b:1", "key b:1"},
		{"%R~a:* +@lock", "EVAL get 1 a:1", "key a:1"},
		{"%R~a:* +@lock", "EVAL_RO get 1 a:1", ""},
		{"~a:* +eval +get", "EVAL get 1 a:1", ""},
		{"~a:* +eval +get", "EVAL pexpire 1 a:1", "command pexpire"},
		{"~a:* +eval +get +del", "EVAL release 1 a:1 t", ""},
		{"~a:* +eval +get", "EVAL release 1 a:1 t", "command del"},
		{"~a:* +eval +get", "EVAL byARGV 1 a:1 get", ""},
		{"~a:* +eval +get", "EVAL byARGV 1 a:1 del", "command del"},
		{"~a:* +eval +get", "EVAL byARGV 1 a:1 GeT", ""},
		{"~a:* +eval +get", "EVAL dynamic 1 a:1 get", "command hexists"},
		{"~a:* &* +@lock", "EVAL dynamic 1 a:1 get", ""},
		{"~a:* &n:* +@lock", "EVAL dynamic 1 a:1 get", "channel any"},
		{"~a:* &n:* +@lock", "EVAL publish 1 a:1 n:1", ""},
		{"~a:* &n:* +@lock", "EVAL publish 1 a:1 m:1", "channel m:1"},
		{"~a:* &n:* +@lock", "EVAL publishDynamic 1 a:1 n:1", "channel any"},
		{"~a:* &n:* +@lock", "EVAL publishByARGV 1 a:1 publish n:1", ""},
		{"~a:* &n:* +@lock", "EVAL publishByARGV 1 a:1 publish m:1", "channel m:1"},
		{"~a:* +eval +get", "EVAL byARGV 1 a:1 LPOP", "command lpop"},
		{"~* &* +eval -@all +eval", "EVAL zrevrange 1 a", "command zrevrange"},
		// By channel.
		{"&n:* +@lock", "SUBSCRIBE n:1 n:2", ""},
		{"&n:* +@lock", "SUBSCRIBE n:1 m:2", "channel m:2"},
		{"&n:* +@lock", "PSUBSCRIBE n:*", ""},
		{"&n:* +@lock", "PSUBSCRIBE n:1*", "channel n:1*"},
		{"&n:* +@lock", "PSUBSCRIBE *", "channel *"},
		{"&n:* +@lock", "PUBLISH n:1 x", ""},
		{"&n:* +@lock", "PUBLISH m:1 x", "channel m:1"},
		{"+@lock", "UNSUBSCRIBE", ""},
	} {
		args := strings.Fields(c.command)
		scripts := map[string]string{
			"get": get, "pexpire": pexpire, "release": release, "byARGV": "return redis.call(ARGV[1], KEYS[1])",
			"dynamic":        "local c = ARGV[1] return redis.call(c, KEYS[1])",
			"publish":        "return redis.call('publish', ARGV[1], 'x')",
			"publishDynamic": "return redis.call('publish', ARGV[1]..'', 'x')", "publishByARGV": "return redis.call(ARGV[1], ARGV[2], 'x')",
			"zrevrange": "return redis.call('zrevrange', KEYS[1], 0, -1)",
		}
		if len(args) > 2 && strings.HasPrefix(args[0], "EVAL") {
			args[1] = scripts[args[1]]
		}
		d := NewDialect(Options{Lookout: nobody{registry.New(0)}})
		if got := deniedFor(as(t, d, c.rules), args...); got != c.want {
			t.Errorf("%s: %s: %q, want %q", c.rules, c.command, got, c.want)
		}
		// What a script may do is the same when it is called by its name.
		if args[0] == "EVAL" {
			s := as(t, d, c.rules+" +evalsha +script")
			sha := s.Do([]string{"SCRIPT", "LOAD", args[1]}).Reply.Str
			if got := deniedFor(s, append([]string{"EVALSHA", sha}, args[2:]...)...); got != c.want {
				t.Errorf("%s: EVALSHA of %s: %q, want %q", c.rules, c.command, got, c.want)
			}
		}
	}
}

// TestScriptThatMayCallAnythingIsTakenForThat: whatever it does to find a name for what it calls.
func TestScriptThatMayCallAnythingIsTakenForThat(t *testing.T) {
	for _, text := range []string{
		"local call = redis.call return call('del', KEYS[1])",
		"return pcall(redis.call, 'del', KEYS[1])",
		"ARGV[1] = 'del' return redis.call(ARGV[1], KEYS[1])",
		"ARGV[1], x = 'del', 1 return redis.call(ARGV[1], KEYS[1])",
		"local a a, ARGV[1] = 1, 'del' return redis.call(ARGV[1], KEYS[1])",
		"local t = ARGV t[1] = 'del' return redis.call(ARGV[1], KEYS[1])",
		"table.insert(ARGV, 1, 'del') return redis.call(ARGV[1], KEYS[1])",
		"for i = 1, 1 do ARGV[i] = 'del' end return redis.call(ARGV[1], KEYS[1])",
		"local ARGV = {'del'} return redis.call(ARGV[1], KEYS[1])",
		"local function f(ARGV) return redis.call(ARGV[1], KEYS[1]) end return f({'del'})",
		"KEYS[1] = 'del' return redis.call(KEYS[1], 'a:1')",
		"return redis.call('g'..'et', KEYS[1])",
		"(function() local x; ARGV[1], x = 'set', 1 end)() return redis.call(ARGV[1], KEYS[1], 'v')",
		"pcall(function() local x; ARGV[1], x = 'set', 1 end) return redis.call(ARGV[1], KEYS[1], 'v')",
		"local t = {g = function() local x; ARGV[1], x = 'set', 1 end} t.g() return redis.call(ARGV[1], KEYS[1], 'v')",
		"string.gsub('a', 'a', function() local x; ARGV[1], x = 'set', 1 end) return redis.call(ARGV[1], KEYS[1], 'v')",
		"local unpack = function(t) t[1] = 'set' end unpack(ARGV) return redis.call(ARGV[1], KEYS[1], 'v')",
		"local function unpack(t) t[1] = 'set' end unpack(ARGV) return redis.call(ARGV[1], KEYS[1], 'v')",
		"local f = {unpack = function(t) t[1] = 'set' end} f.unpack(ARGV) return redis.call(ARGV[1], KEYS[1], 'v')",
		"local f = function(n) return function(t) t[1] = 'set' end end f 'unpack' (ARGV) return redis.call(ARGV[1], KEYS[1], 'v')",
		"local function g(unpack) unpack(ARGV) end g(function(t) t[1] = 'set' end) return redis.call(ARGV[1], KEYS[1], 'v')",
		"for _, unpack in ipairs({function(t) t[1] = 'set' end}) do unpack(ARGV) end return redis.call(ARGV[1], KEYS[1], 'v')",
		"local a, unpack = 1, function(t) t[1] = 'set' end unpack(ARGV) return redis.call(ARGV[1], KEYS[1], 'v')",
		"local t = {g = {}} ARGV[1], t.g['x'], (t).y, t . z = 'del', 1, 2, 3 return redis.call(ARGV[1], KEYS[1])",
		"local t = {f = function() return {} end} ARGV[1], t:f 'x' .y, t.f{}.z = 'del', 1, 2 return redis.call(ARGV[1], KEYS[1])",
		"local a ARGV[1], a\n= 'del' return redis.call(ARGV[1], KEYS[1])",
		"return redis.call(('del'), KEYS[1])",
		"return redis.call(ARGV[1] and 'del', KEYS[1])",
		"return redis.call(ARGV[1]..'', KEYS[1])",
		"return redis.call(ARGV[1 ], KEYS[1]) , redis.call(ARGV[#ARGV], KEYS[1])",
		"return redis.call(unpack({'del', KEYS[1]}))",
		"local r = {call = redis.pcall} return r.call('del', KEYS[1])",
		"return redis['call']('del', KEYS[1])",
	} {
		d := NewDialect(Options{})
		s := as(t, d, "~a:* +eval +get")
		if got := deniedFor(s, "EVAL", text, "1", "a:1", "get"); !strings.HasPrefix(got, "command") {
			if a := s.Do([]string{"EVAL", text, "1", "a:1", "get"}); a.Reply.Kind != ErrorReply { // not even one that is no script for masters
				t.Errorf("%s: %q", text, got)
			}
		}
	}
}

// TestScriptIsJudgedByOneRight: by that which allows its keys.
func TestScriptIsJudgedByOneRight(t *testing.T) {
	set := "return redis.call('set', KEYS[1], 'v')"
	s := as(t, NewDialect(Options{}), "+eval +get ~a:* (+set +del ~b:*)")
	if got := deniedFor(s, "EVAL", set, "1", "a:1"); got != "command set" {
		t.Errorf("by another selector's right: %q", got)
	}
	s = as(t, NewDialect(Options{}), "+get ~a:* (+set +eval ~b:*)")
	if got := deniedFor(s, "EVAL", set, "1", "b:1"); got != "" {
		t.Errorf("by its own: %q", got)
	}
}

// TestScriptOfWhomMayNotRunItIsNotKept: he would push others' out of the table.
func TestScriptOfWhomMayNotRunItIsNotKept(t *testing.T) {
	for _, rules := range []string{"~* &* +@all -eval", "~b:* +@lock", "%R~a:* +@lock"} {
		d := NewDialect(Options{})
		if got := deniedFor(as(t, d, rules), "EVAL", "return 1", "1", "a:1"); got == "" || len(d.scripts.order) > 0 {
			t.Errorf("%s: denied %q, and %d scripts are kept", rules, got, len(d.scripts.order))
		}
	}
}

// TestScriptThatIsNotKnownYetIsNotRun when somebody loads it between the look at what it calls and its run.
func TestScriptThatIsNotKnownYetIsNotRun(t *testing.T) {
	d := NewDialect(Options{})
	s := as(t, d, "~a:* +evalsha +get")
	sha := d.Session(2).Do([]string{"SCRIPT", "LOAD", "return redis.call('del', KEYS[1])"}).Reply.Str
	d.scripts.flush()
	var a Action
	args := []string{"EVALSHA", sha, "1", "a:1"}
	row, _ := findCommand(args)
	if s.forbidden(row, args, &a) {
		t.Fatalf("%+v", a)
	}
	d.Session(2).Do([]string{"SCRIPT", "LOAD", "return redis.call('del', KEYS[1])"})
	if a := row.do(s, row, args); a.Reply.Str != errNoScript {
		t.Errorf("%+v", a)
	}
	if got := deniedFor(s, args...); got != "command del" {
		t.Errorf("when it is there: %q", got)
	}
}

func TestKnownScriptsNeedNoMoreThanTheyCall(t *testing.T) {
	for name, calls := range map[string]string{
		"if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end":                                           "get del",
		"if redis.call(\"GET\", KEYS[1]) == ARGV[1] then return redis.pcall(\"PEXPIRE\", KEYS[1], ARGV[2]) end":                                   "get pexpire",
		"local n = #KEYS for i = 1, n do redis.call('del', KEYS[i]) end return redis.status_reply('OK')":                                          "del",
		"local k, t = KEYS[1], ARGV[1] local v = redis.call('get', k) if v == t then return redis.call('del', k) end":                             "get del",
		"local k, t = KEYS[1], ARGV[1]; v = redis.call('get', k)":                                                                                 "get",
		"local t = redis.call'TIME' return t[1]":                                                                                                  "time",
		"local v = redis.call([[Get]], KEYS[1]) if v == ARGV[1] then return redis.call('set', KEYS[1], unpack(ARGV, 2)) end return {ARGV[1], v}":  "get set",
		"if (redis.call('hexists', KEYS[1], ARGV[2]) == 0) then return nil end redis.call(ARGV[4], KEYS[2], ARGV[1]) return redis.sha1hex('abc')": "hexists ARGV[4]",
	} {
		read := callsOf(name)
		var list []string
		for _, c := range read.calls {
			text := lower(c.command.text)
			if c.command.n > 0 {
				text = fmt.Sprintf("%s[%d]", c.command.text, c.command.n)
			}
			list = append(list, text)
		}
		if got := strings.Join(list, " "); read.any || got != calls {
			t.Errorf("%s: %s, any %t", name, got, read.any)
		}
	}
}

// TestScriptCommandsAreThoseOfTheMasters: one that masters carry out and nobody looks at would be everybody's.
func TestScriptCommandsAreThoseOfTheMasters(t *testing.T) {
	prelude, err := os.ReadFile("../quorum/journal/journal.lua")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, list := range regexp.MustCompile(`(?:reads|writes) = '([^']*)'`).FindAllStringSubmatch(string(prelude), -1) {
		all = append(all, strings.Fields(strings.ToLower(list[1]))...)
	}
	if len(all) < 60 {
		t.Fatalf("the prelude's lists are not where they were: %v", all)
	}
	for _, name := range all {
		if row := rowNamed(name); row != nil && len(row.Subcommands) > 0 {
			for _, c := range row.Subcommands {
				if c.FirstKey > 0 && !slices.Contains(scriptCommands, c.Name) {
					t.Errorf("masters let scripts call %s, and nobody's right to it is looked at", c.Name)
				}
			}
			continue
		}
		if !slices.Contains(scriptCommands, name) {
			t.Errorf("masters let scripts call %s, and nobody's right to it is looked at", name)
		}
		if _, there := catalogue().Named(name); !there {
			t.Errorf("%s is in no catalogue", name)
		}
	}
}

func TestTransactionIsRefusedWhereOneCommandIs(t *testing.T) {
	d := NewDialect(Options{})
	s := as(t, d, "~a:* +@lock")
	do := func(words ...string) Action { return s.Do(words) }
	do("MULTI")
	if a := do("SET", "b:1", "v"); a.Forbidden.Reason != acl.ByKey {
		t.Errorf("%+v", a)
	}
	if a := do("EXEC"); a.Reply.Str != errExecAbort {
		t.Errorf("%+v", a)
	}
	// His rights are others when it is to be carried out.
	do("MULTI")
	do("SET", "a:1", "v")
	do("SET", "a:2", "v")
	if err := d.users.Set("u", []string{"resetkeys", "~a:1"}); err != nil {
		t.Fatal(err)
	}
	if a := do("EXEC"); len(a.Requests) > 0 || !strings.HasPrefix(a.Reply.Str, "EXECABORT") || a.Forbidden != (acl.Denial{Reason: acl.ByKey, Object: "a:2"}) {
		t.Errorf("%+v", a)
	}
}

func TestUserThatIsTakenAwayIsEnded(t *testing.T) {
	d := NewDialect(Options{})
	s := as(t, d, "~* +@all")
	if _, err := d.users.Delete([]string{"u"}); err != nil {
		t.Fatal(err)
	}
	if a := s.Do([]string{"GET", "a"}); !a.Close || a.Reply.Str != errNoAuth || len(a.Requests) > 0 {
		t.Errorf("%+v", a)
	}
	if a := s.Do([]string{"AUTH", "u", "x"}); !a.Denied || a.DeniedUser != "u" {
		t.Errorf("%+v", a)
	}
	s.Do([]string{"RESET"})
	if a := s.Do([]string{"GET", "a"}); len(a.Requests) != 1 || s.Snapshot().User != acl.Default {
		t.Errorf("%+v", a)
	}
}

// TestNameOfAUserIsNotHim: who came as one that was taken away is not who has his name now.
// TestListOfWhoIsTakenAwayIsEmpty where that happens between the look at his rights and his command.
func TestListOfWhoIsTakenAwayIsEmpty(t *testing.T) {
	for _, args := range [][]string{{"LOCK", "TOP"}, {"LOCK", "LIST"}, {"SCAN", "0"}, {"KEYS", "*"}, {"RANDOMKEY"}} {
		d := NewDialect(Options{Lookout: nobody{registry.New(0)}})
		s := as(t, d, "~* &* +@all")
		row, _ := findCommand(args)
		var a Action
		if s.forbidden(row, args, &a) {
			t.Fatalf("%v: %+v", args, a)
		}
		if _, err := d.users.Delete([]string{"u"}); err != nil {
			t.Fatal(err)
		}
		row.do(s, row, args)
		if may := s.reads(row); may == nil || may("a") {
			t.Errorf("%v shows keys to nobody", args)
		}
	}
}

func TestNameOfAUserIsNotHim(t *testing.T) {
	d := NewDialect(Options{})
	s := as(t, d, "~a:* +@all")
	if _, err := d.users.Delete([]string{"u"}); err != nil {
		t.Fatal(err)
	}
	if err := d.users.Set("u", []string{"on", ">another", "~*", "&*", "+@all"}); err != nil {
		t.Fatal(err)
	}
	if a := s.Do([]string{"GET", "a:1"}); !a.Close || len(a.Requests) > 0 {
		t.Errorf("%+v", a)
	}
	// Who is changed, even by reset, is still he; and a file that says the same changes nobody.
	s = as(t, d, "~a:* +@all")
	for _, rules := range []string{"reset on nopass ~b:* +@all", "~c:*"} {
		if err := d.users.Set("u", strings.Fields(rules)); err != nil {
			t.Fatal(err)
		}
	}
	if changed, err := d.SetUsers(d.UsersText()); err != nil || len(changed) != 0 {
		t.Errorf("%v, %v", changed, err)
	}
	if a := s.Do([]string{"GET", "b:1"}); len(a.Requests) != 1 {
		t.Errorf("%+v", a)
	}
}

func TestOptionsPasswordIsTheDefaultUsers(t *testing.T) {
	password := "s3"
	d := NewDialect(Options{Password: func() string { return password }})
	if _, err := d.SetUsers("user alice on >a1 ~* +@all\nuser bob off >b1 +@all\n"); err != nil {
		t.Fatal(err)
	}
	admits := d.Knows
	for _, c := range []struct {
		user, given string
		want        bool
	}{
		{acl.Default, "s3", true}, {acl.Default, "", false}, {acl.Default, "a1", false}, {"alice", "a1", true}, {"alice", "s3", false},
		{"bob", "b1", false}, {"carol", "s3", false}, {acl.Default, strings.Repeat("x", longestPassword+1), false},
	} {
		if got := admits(c.user, c.given); got != c.want {
			t.Errorf("%s with %.10q: %t", c.user, c.given, got)
		}
	}
	if d.Open() {
		t.Error("everybody is let in")
	}
	if err := d.users.Set(acl.Default, []string{">own"}); err != nil || !admits(acl.Default, "own") || !admits(acl.Default, "s3") || admits(acl.Default, "x") {
		t.Error("his own password and the option's are not both right", err)
	}
	password = ""
	if d.Open() || admits(acl.Default, "s3") || admits(acl.Default, "") || !admits(acl.Default, "own") {
		t.Error("the option's is right after it was taken away")
	}
	if err := d.users.Set(acl.Default, []string{"off"}); err != nil || d.Open() || admits(acl.Default, "own") {
		t.Error("he is off", err)
	}
}

func TestCertificateNamesOnlyWhomItMay(t *testing.T) {
	d := NewDialect(Options{Password: func() string { return "s3" }})
	if _, err := d.SetUsers("user alice on certificate ~* +@all\nuser bob on >b ~* +@all\nuser carol off certificate +@all\n"); err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string]string{"alice": "alice", "bob": "", "carol": "", "default": "", "bob,carol,alice": "alice", "": "", "mallory": ""} {
		s := d.Session(1)
		s.Certified(strings.Split(names, ","))
		if got := s.Snapshot(); got.Authed != (want != "") || got.Authed && got.User != want {
			t.Errorf("%s: %+v", names, got)
		}
	}
}

func TestListsShowWhatTheUserMayRead(t *testing.T) {
	seen := registry.New(64)
	for _, key := range []string{"a:1", "b:1"} {
		seen.Note(&registry.Act{What: registry.Refused, Key: key, At: time.Second, By: &registry.Origin{}})
	}
	d := NewDialect(Options{Lookout: nobody{seen}})
	s := as(t, d, "%R~a:* %W~b:* +@all")
	for _, command := range []string{"SCAN 0", "KEYS *", "RANDOMKEY", "LOCK LIST"} {
		a := s.Do(strings.Fields(command))
		// A master names both: which is looked at next?
		bulk := func(s string) quorum.ScriptReply {
			return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.BulkReply, Str: s}}
		}
		array := func(elems ...quorum.ScriptReply) quorum.ScriptReply {
			return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: elems}
		}
		reply := array(bulk("0"), array(bulk("a:1"), bulk("b:1")))
		if command == "RANDOMKEY" {
			reply = bulk("b:1")
		}
		r := quorum.Result{Decision: quorum.Won, Masters: 1, Needed: 1, Voted: 1, Answers: []quorum.SurveyAnswer{{Given: true, Reply: reply}}}
		_, next := a.Render.Render([]quorum.Result{r})
		if asksFor := slices.ContainsFunc(next.Requests, func(r quorum.Request) bool { return r.Key == "b:1" }); asksFor {
			t.Errorf("%s: %+v", command, next.Requests)
		}
	}
	if a := s.Do([]string{"LOCK", "TOP"}); len(a.Reply.Elems) != 1 || !strings.Contains(fmt.Sprint(a.Reply), "a:1") {
		t.Errorf("%+v", a.Reply)
	}
}

// Whom the client's port lets look and give orders, other doors do too: channels are nothing to either.
func TestRightsOnAllKeysAreThoseOfCommands(t *testing.T) {
	for rules, may := range map[string]bool{
		"~* &* +@all":                        true,
		"~* +lock|list +lock|force":          true,
		"(~* +lock|list +lock|force)":        true,
		"~* +@lock":                          false,
		"~a* &* +@all":                       false,
		"%R~* %W~a &* +@all":                 false,
		"~* &* -@all (~a +@all)":             false,
		"~* &* -lock (~a +lock) (~* +@lock)": false,
	} {
		d := NewDialect(Options{})
		as(t, d, rules)
		if d.Looks("u") != may || d.Operates("u") != may {
			t.Errorf("%s: looks %t, operates %t", rules, d.Looks("u"), d.Operates("u"))
		}
	}
}

// Who looks does so by what he has shown to be, and not by his name.
func TestLookingEndsWithTheUser(t *testing.T) {
	d := NewDialect(Options{Users: "user default on nopass ~* &* +@all\nuser bob on ~* +@all\n"})
	bob, other, nobody := d.Looking("bob"), d.Looking(acl.Default), d.Looking("nobody")
	operator := d.Session(1)
	for _, step := range []struct {
		order      string
		still, new bool
	}{
		{"ACL SETUSER bob >pw", true, true},
		{"ACL SETUSER bob -lock|list", false, false},
		{"ACL SETUSER bob +lock|list", true, true},
		{"ACL DELUSER bob", false, false},
		{"ACL SETUSER bob on ~* +@all", false, true},
	} {
		do(t, operator, step.order)
		if bob() != step.still || d.Looking("bob")() != step.new || !other() || nobody() {
			t.Errorf("%s: %t, and who comes anew %t", step.order, bob(), d.Looking("bob")())
		}
	}
}

// Our own categories are told wherever Redis tells its own.
func TestCommandsAreListedByOurCategoriesToo(t *testing.T) {
	s := NewDialect(Options{Users: everybodyOperates}).Session(1)
	for _, category := range []string{"lock", "operate", "scripting"} {
		var here []string
		for _, name := range do(t, s, "ACL CAT "+category).Reply.Elems {
			if rowNamed(name.Str) != nil {
				here = append(here, name.Str)
			}
		}
		var listed []string
		for _, name := range do(t, s, "COMMAND LIST FILTERBY ACLCAT "+category).Reply.Elems {
			listed = append(listed, name.Str)
		}
		if !slices.Equal(listed, here) || len(here) == 0 {
			t.Errorf("%s: %v, and by ACL CAT %v", category, listed, here)
		}
	}
}
