package conf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// In protected mode nobody reaches a proxy from elsewhere as a user who has not shown a password.
func TestDefaultUserWithoutAPasswordIsEverybody(t *testing.T) {
	for rules, exposed := range map[string]bool{
		"":                                     true,
		"alice on nopass ~* +@all":             true,
		"default on nopass ~* +@all":           true,
		"default nopass off on ~* +@all":       true,
		"default on >pw nopass":                true,
		"default ON NoPass":                    true,
		"default on #0123 nopass":              true,
		"default off":                          false,
		"default":                              false,
		"default on nopass off":                false,
		"default on nopass >pw":                false,
		"default on nopass resetpass":          false,
		"default on nopass reset":              false,
		"default on nopass\ndefault off":       false,
		"default off\ndefault on nopass ~* &*": true,
	} {
		args := []string{"--listen", "0.0.0.0:6380", "--master", "127.0.0.1:1"}
		for line := range strings.SplitSeq(rules, "\n") {
			if line != "" {
				args = append(args, "--user", line)
			}
		}
		_, err := Load(args, nil)
		if got := err != nil && strings.Contains(err.Error(), "nobody has to prove who he is"); got != exposed {
			t.Errorf("%q: %v", rules, err)
		}
	}
}

func TestPasswordsOfUsersAreNotShown(t *testing.T) {
	for _, rule := range []string{">secret1", "> secret1", "#secret1", "!secret1", "<secret1", "(>secret1", "(~a >secret1)", "secret1", "(secret1)"} {
		shown := shownUser("bob on " + rule + " ~a* %R~b &c +get (+@read ~d)")
		if strings.Contains(shown, "secret1") || !strings.HasPrefix(shown, "bob on ") || !strings.HasSuffix(shown, "~a* %R~b &c +get (+@read ~d)") {
			t.Errorf("%s: %s", rule, shown)
		}
	}
}

func TestUsersAreWrittenOnlyIfTheyCanBeReadAgain(t *testing.T) {
	c := &Config{}
	c.ACLFile = filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(c.ACLFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if ok, err := c.WriteUsers("user a on\n"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := c.WriteUsers(strings.Repeat("#", maxUsersFile+1)); !ok || err == nil {
		t.Error(ok, err)
	}
	if text, ok, err := c.ReadUsers(); text != "user a on\n" || !ok || err != nil {
		t.Errorf("%d bytes, %t, %v", len(text), ok, err)
	}
}
