package conf

import (
	"strings"
	"testing"
)

// Whoever reads the help of an option finds its unit or form, its default and
// the reason for it.
func TestHelpSaysEverythingAboutEveryOption(t *testing.T) {
	help := load(t, nil, "--help").Help
	for _, g := range groups {
		if !strings.Contains(help, "\n"+g.title+":\n") {
			t.Errorf("no heading %q", g.title)
		}
	}
	for _, command := range []string{"serve", "check", "ping", "ready"} {
		if !strings.Contains(help, "\n  "+command+" ") {
			t.Errorf("no command %q", command)
		}
	}
	known := map[string]bool{}
	for _, g := range groups {
		known[g.key] = true
	}
	for i := range options {
		o := &options[i]
		if !strings.Contains(help, "  --"+o.name+"=") {
			t.Errorf("--%s is not in the help", o.name)
		}
		if !known[o.group] {
			t.Errorf("%s is in no group", o.name)
		}
		if len(o.help) < 50 {
			t.Errorf("%s: %q gives no reason", o.name, o.help)
		}
		if (o.typ == intType || o.typ == shareType || o.typ == durationType) && (o.min == "" || o.max == "") {
			t.Errorf("%s has no range", o.name)
		}
		if v, problem := o.value([]string{o.def}); problem != nil {
			t.Errorf("%s: its own default %v is wrong: %v", o.name, v, problem)
		}
	}
	for _, line := range strings.Split(help, "\n") {
		if len([]rune(line)) > 100 {
			t.Errorf("a line of %d characters: %s", len([]rune(line)), line)
		}
	}
}

// Options that the documents promise, by name.
func TestNoPromisedOptionIsMissing(t *testing.T) {
	for _, name := range strings.Fields(`config listen master embedded acquire-timeout max-ttl over-max-ttl max-hold acquire-wait split-retries script-steps script-memory
		split-delay max-clients requirepass requirepass-file log-level log-format shutdown-timeout connect-timeout master-timeout
		probe-interval redis-version timeout tcp-keepalive protected-mode tls-listen tls-cert-file tls-key-file tls-ca-cert-file tls-auth-clients
		master-user master-password master-password-file master-tls-cert-file master-tls-key-file master-tls-ca-cert-file`) {
		if lookup(name) == nil {
			t.Errorf("there is no option %s", name)
		}
	}
}
