package conf

import (
	"reflect"
	"strings"
	"testing"
)

func TestAdminListenerIsThereWhereItIsAskedForOrTriedOut(t *testing.T) {
	for _, c := range []struct {
		args     string
		want     Address
		byItself bool
	}{
		{"", Address{"tcp", "127.0.0.1:6381"}, true},
		{"--embedded 1 --listen :6380 --protected-mode no", Address{"tcp", "127.0.0.1:6381"}, true},
		{"--admin-host a", Address{"tcp", "127.0.0.1:6381"}, true},
		{"--admin-listen=", Address{}, false},
		{"--listen localhost:6381", Address{}, false},
		{"--master a:1", Address{}, false},
		{"--master a:1 --admin-listen 127.0.0.1:9000", Address{"tcp", "127.0.0.1:9000"}, false},
		{"--listen 127.0.0.1:0 --admin-listen 127.0.0.1:0", Address{"tcp", "127.0.0.1:0"}, false},
		{"--admin-listen unix:///run/admin", Address{"unix", "/run/admin"}, false},
	} {
		cfg := load(t, nil, strings.Fields(c.args)...)
		if cfg.Admin != c.want || cfg.AdminByItself != c.byItself {
			t.Errorf("%s: %v, by itself %v; want %v, %v", c.args, cfg.Admin, cfg.AdminByItself, c.want, c.byItself)
		}
	}
	if cfg := load(t, []string{"REDLOCK_PROXY_ADMIN_LISTEN="}); !cfg.AdminByItself {
		t.Error("a variable that is empty takes the listener away")
	}
}

func TestMistakesWithTheAdminListenerAreNamedWithTheirCure(t *testing.T) {
	cert, key := validCertificate(t)
	files := " --tls-cert-file " + cert + " --tls-key-file " + key
	for _, c := range []struct{ args, want string }{
		{"--admin-listen 9000", `--admin-listen: "9000" is not host:port; write host:port, such as 127.0.0.1:6380, or :9000 for all interfaces`},
		{"--admin-listen localhost:6380", `--admin-listen: localhost:6380 is where clients connect; name another port`},
		{"--admin-listen 127.0.0.1:1 --master localhost:1", `--master: localhost:1 is where the proxy itself listens`},
		{"--master a:1 --admin-tls yes --tls-auth-clients no" + files, `--admin-tls: there is no admin listener; name one in admin-listen, or leave it out`},
		{"--master a:1 --admin-host a", `--admin-host: there is no admin listener; name one in admin-listen, or leave it out`},
		{"--admin-listen 127.0.0.1:1 --admin-host a:1", `--admin-host: "a:1" is not the name of a host; write the name alone, without a port`},
		{"--admin-listen 127.0.0.1:1 --admin-tls yes --tls-auth-clients no", `--admin-tls: there is no certificate; name one in tls-cert-file`},
		{"--admin-listen :9000", `--admin-listen: other machines can reach :9000, and nobody has to prove who he is there; set a password with requirepass-file, demand client certificates with admin-tls`},
		{"--admin-listen :9000 --tls-listen 127.0.0.1:1 --tls-ca-cert-file " + cert + files, `--admin-listen: other machines can reach :9000`},
		{"--admin-listen :9000 --admin-tls yes --tls-auth-clients optional --tls-ca-cert-file " + cert + files, `--admin-listen: other machines can reach :9000`},
	} {
		if got := wrong(t, nil, strings.Fields(c.args)...); !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s\n got %s\nwant %s", c.args, got, c.want)
		}
	}
	for _, args := range []string{
		"--admin-listen :9000 --protected-mode no",
		"--admin-listen :9000 --requirepass-file " + write(t, "password", "secret"),
		"--admin-listen :9000 --admin-tls yes --tls-ca-cert-file " + cert + files,
	} {
		if c := load(t, nil, strings.Fields(args)...); c.Admin.Address != ":9000" || (c.ServerTLS != nil) != (c.AdminTLS == "yes") {
			t.Errorf("%s: %v, TLS %v", args, c.Admin, c.ServerTLS)
		}
	}
}

func TestAdminListenerIsAskedByItsOwnNameAndThoseConfigured(t *testing.T) {
	for args, want := range map[string][]string{
		"--admin-listen proxy.example.org:1 --admin-host a,B --requirepass x": {"proxy.example.org", "a", "B"},
		"--admin-listen :1 --requirepass x":                                   {},
		"--admin-listen unix:///x --admin-host a":                             {"a"},
	} {
		if got := load(t, nil, strings.Fields(args)...).AdminHosts(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// The listener stays open until the restart, and so does what protects it.
func TestReloadLeavesTheAdminListenerProtected(t *testing.T) {
	running := load(t, []string{"REDLOCK_PROXY_REQUIREPASS=x"}, "--admin-listen", ":9000")
	next := load(t, nil, "--admin-listen", "127.0.0.1:9000")
	if _, _, _, err := Reload(running, next); err == nil || !strings.Contains(err.Error(), "other machines can reach :9000, and nobody has to prove who he is there until the restart") {
		t.Errorf("error %v", err)
	}
	next = load(t, []string{"REDLOCK_PROXY_REQUIREPASS=y"}, "--admin-listen", "127.0.0.1:9000")
	merged, live, restart, err := Reload(running, next)
	if err != nil || !reflect.DeepEqual(live, []string{"requirepass"}) || !reflect.DeepEqual(restart, []string{"admin-listen"}) || merged.Admin.Address != ":9000" {
		t.Errorf("live %q, restart %q, at %v, error %v", live, restart, merged.Admin, err)
	}
}
