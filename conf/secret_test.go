package conf

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const hidden = "hunter2"

func TestSecretIsNotPrintedByAnyVerb(t *testing.T) {
	s := Secret(hidden)
	holder := struct {
		Password Secret
		Masters  []Master
	}{s, []Master{{Password: s}}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%10s"} {
		for _, v := range []any{s, &s, holder} {
			if got := fmt.Sprintf(verb, v); strings.Contains(got, hidden) || strings.Contains(got, fmt.Sprintf("%x", hidden)) {
				t.Errorf("%s shows %s", verb, got)
			}
		}
	}
	if b, err := json.Marshal(holder); err != nil || strings.Contains(string(b), hidden) {
		t.Errorf("JSON shows %s, %v", b, err)
	}
}

func TestPasswordsAreSetOrNoneInShow(t *testing.T) {
	c := load(t, []string{"REDLOCK_PROXY_REQUIREPASS=" + hidden, "REDLOCK_PROXY_MASTER=redis://user:" + hidden + "@a:1,redis://:" + hidden + "@b:2,c:3"})
	got := c.Show()
	for _, want := range []string{
		"requirepass             = (set)                            # environment REDLOCK_PROXY_REQUIREPASS\n",
		`master                  = ["redis://user:(set)@a:1", "redis://:(set)@b:2", "c:3"] # environment REDLOCK_PROXY_MASTER`,
		"master-password         = (none)                           # default\n",
		`max-ttl                 = "5m"                             # default`,
		"max-clients             = 10000                            # default\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, hidden) {
		t.Errorf("a password is shown:\n%s", got)
	}
}

// What is wrong with a password, or next to one, is said without it.
func TestNoProblemOrWarningHoldsAPassword(t *testing.T) {
	for _, args := range [][]string{
		{"--master", "redis://u:" + hidden + "/x@a:1"},
		{"--master", "redis://u:" + hidden + "?x@a:1"},
		{"--master", "redis://u:" + hidden + "#x@a:1"},
		{"--master", "redis://u:1#" + hidden + "@a:1"},
		{"--master", "redis://u:%" + hidden + "@a:1"},
		{"--master", "redis://u:" + hidden + "@a:1/7"},
		{"--master", "redis://u:" + hidden + "@a:1?db=7"},
		{"--master", "redis://u:x,y" + hidden + "@a:1"},
		{"--master", "redis://u:" + hidden + ",y@a:1"},
		{"--master", "http://u:" + hidden + "@a:1"},
		{"--master", "u:" + hidden + "@a:1"},
		{"--master", hidden + "@a:1"},
		{"--master", "redis://" + hidden + "@a:1"},
		{"--master", "unix://u:" + hidden + "@/x"},
		{"--master", "redis://u:" + hidden + "@a:1,redis://u:" + hidden + "@a:1"},
		{"--master", "redis://u:" + hidden + "@a:1,redis://v:" + hidden + "@b:99999"},
		{"--requirepass", "two", hidden},
		{"--requirepas", hidden},
		{"--requirepas=" + hidden},
		{"--requirepass=" + hidden, "--timeout", "x"},
		{"--config", write(t, "a.toml", "requirepass = "+hidden)},
		{"--config", write(t, "b.toml", "requirepass = 123"+hidden)},
		{"--config", write(t, "c.toml", "master-password = \"\\"+hidden+"\"")},
		{"--config", write(t, "d.toml", "requirepass = [\""+hidden+"\"]")},
		{"--config", write(t, "e.toml", "requirepass = {a = \""+hidden+"\"}")},
	} {
		c, err := Load(args, nil)
		if err == nil {
			t.Errorf("%q: nothing is wrong", args)
			continue
		}
		got := err.Error() + strings.Join(c.Warnings, "\n")
		if strings.Contains(got, hidden) {
			t.Errorf("%q: the password is in\n%s", args, got)
		}
	}
}
