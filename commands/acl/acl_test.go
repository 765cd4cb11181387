package acl

import (
	"strings"
	"testing"
)

var words = NewCatalogue([]Command{
	{Name: "get", Categories: []string{"read", "string", "fast"}},
	{Name: "set", Categories: []string{"write", "string", "slow"}},
	{Name: "client", Categories: []string{"slow"}},
	{Name: "client|list", Categories: []string{"slow", "admin", "dangerous"}},
	{Name: "client|id", Categories: []string{"slow", "connection"}},
	{Name: "publish", Categories: []string{"pubsub", "fast"}},
})

func user(t *testing.T, rules string) *User {
	t.Helper()
	u, err := NewUser(words, "u").With(words, strings.Split(rules, " "))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// What an earlier rule said of the same is told no more, and the rest stays in its order: as Redis 7.2 tells it.
func TestRulesAreToldAsTheyWereGiven(t *testing.T) {
	for rules, want := range map[string]string{
		"on nopass":                            "on nopass resetchannels -@all",
		"+get +set -get":                       "off resetchannels -@all +set -get",
		"+@all -@dangerous":                    "off resetchannels +@all -@dangerous",
		"+client +client|id -client|list":      "off resetchannels -@all +client +client|id -client|list",
		"+client|id +client|list -client":      "off resetchannels -@all -client",
		"+@read +get -@read":                   "off resetchannels -@all +get -@read",
		"+get +@all":                           "off resetchannels +@all",
		"~a %R~b %W~c %RW~d ~b":                "off ~a ~b %W~c ~d resetchannels -@all",
		"%R~* ~a":                              "off %R~* ~a resetchannels -@all",
		"%RW~*":                                "off ~* resetchannels -@all",
		"%R~* ~a %W~*":                         "off ~* resetchannels -@all",
		"&a &b &a allchannels":                 "off &* -@all",
		"certificate on (~a +get) (&b +@read)": "on certificate resetchannels -@all (~a resetchannels -@all +get) (resetchannels &b -@all +@read)",
		"(~a) clearselectors":                  "off resetchannels -@all",
		"on nopass ~a +get reset":              "off resetchannels -@all",
		"ON AllKeys +GET":                      "on ~* resetchannels -@all +get",
	} {
		u := user(t, rules)
		if got := strings.TrimPrefix(u.String(), "user u "); got != want {
			t.Errorf("%s: %s, want %s", rules, got, want)
		}
		again, err := words.Parse(u.String())
		if err != nil || len(again) != 1 || again[0].String() != u.String() {
			t.Errorf("%s: read again it is %v, %v", rules, again, err)
		}
	}
}

func TestCallIsAllowedByOneSelectorAltogether(t *testing.T) {
	get, set, publish, list := 0, 1, 5, 3
	read, write := Access{Read: true}, Access{Write: true}
	for _, c := range []struct {
		rules string
		call  Call
		want  Reason
	}{
		{"+get ~a*", Call{Command: get, Keys: []Key{{"a1", read}}}, 0},
		{"+get ~a*", Call{Command: get, Keys: []Key{{"a1", read}, {"b", read}}}, ByKey},
		{"+get ~a*", Call{Command: set, Keys: []Key{{"a1", write}}}, ByCommand},
		{"+@all -set ~*", Call{Command: set, Keys: []Key{{"a", write}}}, ByCommand},
		{"+@all %R~a", Call{Command: get, Keys: []Key{{"a", read}}}, 0},
		{"+@all %R~a", Call{Command: set, Keys: []Key{{"a", write}}}, ByKey},
		{"+@all %W~a", Call{Command: set, Keys: []Key{{"a", write}}}, 0},
		{"+@all %W~a", Call{Command: get, Keys: []Key{{"a", read}}}, ByKey},
		{"+@all %W~a", Call{Command: get, Keys: []Key{{"a", Access{}}}}, 0},
		{"+@all %W~a %R~a", Call{Command: get, Keys: []Key{{"a", Access{true, true}}}}, 0},
		// One selector's command on another one's key is nobody's right.
		{"+get ~a (+set ~b)", Call{Command: set, Keys: []Key{{"a", write}}}, ByKey},
		{"+get ~a (+set ~b)", Call{Command: set, Keys: []Key{{"b", write}}}, 0},
		{"+get ~a (+set ~b)", Call{Command: get, Keys: []Key{{"b", read}}}, ByKey},
		{"+publish &n*", Call{Command: publish, Channels: []string{"news"}}, 0},
		{"+publish &n*", Call{Command: publish, Channels: []string{"gossip"}}, ByChannel},
		{"+publish &n*", Call{Command: publish, Channels: []string{"news*"}, Patterns: true}, ByChannel},
		{"+publish &n*", Call{Command: publish, Channels: []string{"n*"}, Patterns: true}, 0},
		{"+publish &[ab]", Call{Command: publish, Channels: []string{"[ab]"}}, ByChannel},
		{"+publish &[ab]", Call{Command: publish, Channels: []string{"[ab]"}, Patterns: true}, 0},
		{"+client -client|list", Call{Command: list}, ByCommand},
		{"-@all +client", Call{Command: list}, 0},
		{"+@all -@dangerous", Call{Command: list}, ByCommand},
	} {
		if d := user(t, c.rules).May(words, &c.call); d.Reason != c.want {
			t.Errorf("%s: %+v is denied by %+v, want %v", c.rules, c.call, d, c.want)
		}
	}
}

func TestUserIsAValue(t *testing.T) {
	a := user(t, "on >x ~a +get (+set)")
	before := a.String()
	b, err := a.With(words, []string{"off", ">y", "~b", "-get", "&c", "(~d)"})
	if err != nil || a.String() != before || b.String() == before {
		t.Errorf("%v: %s is %s, and becomes %s", err, before, a, b)
	}
	if _, err := a.With(words, []string{"~c", "nonsense"}); err == nil || a.String() != before {
		t.Errorf("%v: %s", err, a)
	}
}

func TestPasswordsAreNotTold(t *testing.T) {
	u := user(t, "on >secret1 >secret2 <secret1")
	if !u.Admits("secret2") || u.Admits("secret1") || u.Admits("") || strings.Contains(u.String(), "secret") {
		t.Error(u)
	}
	long := ">secret" + strings.Repeat("x", MaxPassword)
	for _, rule := range []string{"<secret3", ">secret4 <secret5", long} {
		_, err := u.With(words, strings.Split(rule, " "))
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", rule, err)
		}
	}
	for _, rules := range []string{">secret6 nonsense", "secret6", "#secret6", "!secret6", "(>secret6", "(~a >secret6)", "> secret6", "<secret6"} {
		if _, err := words.Parse("user a on " + rules + "\n"); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", rules, err)
		}
	}
}

func TestFileOfUsersIsReadWholeOrNotAtAll(t *testing.T) {
	standard := user(t, "on nopass ~* &* +@all")
	standard.Name = Default
	users := NewUsers(words, standard)
	list, err := words.Parse("# who may\n\nuser alice on nopass ~a* +get\r\nuser bob off\n")
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if changed := users.Replace(list); len(changed) != 0 || users.Named("alice") == nil || users.Named(Default) == nil {
		t.Errorf("%v: %s", changed, users.Text())
	}
	if changed := users.Replace(list[:1]); len(changed) != 1 || changed[0] != "bob" || users.Named("bob") != nil {
		t.Errorf("%v: %s", changed, users.Text())
	}
	for text, what := range map[string]string{
		"user a on\nuser a off": "line 2: user a was there before",
		"a on":                  "line 1: it is to begin with the word user and a name",
		"\nuser":                "line 2: it is to begin with the word user and a name",
		"user a +nosuch":        "line 1: Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL",
		"user a +read":          "line 1: Error in ACL SETUSER modifier '+read': Unknown command or category name in ACL",
		"user a (+get":          "line 1: a parenthesis is not closed",
	} {
		if _, err := words.Parse(text); err == nil || err.Error() != what {
			t.Errorf("%q: %v, want %s", text, err, what)
		}
	}
	if _, err := users.Delete([]string{"alice", Default}); err != ErrDefault || users.Named("alice") == nil {
		t.Errorf("%v: %s", err, users.Text())
	}
}

func FuzzRules(f *testing.F) {
	for _, seed := range []string{"on >x ~a* %R~b &c +@all -get (+set ~z)", "(", ")", "% ~ & + - > < # ! ( )", "%~", "%RW~", "+@", "-|", "+get|x", "((a) b)", "(&0))", "max-ttl=90s max-locks=3 MAX-RATE=10", "max-ttl=0 max-x=1 (max-rate=1)", "(~a) +get)", "%R~* ~x %W~*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := NewUser(words, "u").With(words, strings.Split(text, " "))
		if err != nil {
			return
		}
		again, err := words.Parse(u.String())
		if err != nil || len(again) != 1 || again[0].String() != u.String() {
			t.Errorf("%q is %s, which is read as %v, %v", text, u, again, err)
		}
	})
}
