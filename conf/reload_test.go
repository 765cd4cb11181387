package conf

import (
	"reflect"
	"strings"
	"testing"
)

func TestReloadChangesWhatIsLiveAndNamesTheRest(t *testing.T) {
	running := load(t, []string{"REDLOCK_PROXY_REQUIREPASS=old"}, "--master", "redis://u:one@a:1,b:1,c:1")
	next := load(t, []string{"REDLOCK_PROXY_REQUIREPASS=new"},
		"--master", "redis://u:two@a:1,b:1,c:1", "--log-level", "debug", "--max-clients", "5", "--listen", "127.0.0.1:1")
	merged, live, restart, err := Reload(running, next)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"requirepass", "master", "log-level"}; !reflect.DeepEqual(live, want) {
		t.Errorf("live %q, want %q", live, want)
	}
	if want := []string{"listen", "max-clients"}; !reflect.DeepEqual(restart, want) {
		t.Errorf("restart %q, want %q", restart, want)
	}
	if merged.Password != "new" || merged.Masters[0].Password != "two" || merged.LogLevel != "debug" {
		t.Errorf("password %s, master's %s, log-level %s", string(merged.Password), string(merged.Masters[0].Password), merged.LogLevel)
	}
	if merged.MaxClients != 10000 || !reflect.DeepEqual(merged.Listeners, running.Listeners) {
		t.Errorf("max-clients %d and listeners %v have changed without a restart", merged.MaxClients, merged.Listeners)
	}
	if running.Password != "old" || running.Masters[0].Password != "one" || running.From["log-level"].Source != Default {
		t.Error("the configuration in use was changed in place")
	}
	if from := merged.From["log-level"].String(); from != "flag --log-level" {
		t.Errorf("log-level is from %q", from)
	}
}

func TestReloadReadsPasswordFilesAndCertificatesAnew(t *testing.T) {
	cert, key := validCertificate(t)
	load2 := func(cert, key, password string) *Config {
		return load(t, nil, "--tls-listen", "127.0.0.1:1", "--tls-auth-clients", "no", "--tls-cert-file", cert, "--tls-key-file", key,
			"--master", "rediss://a:1,b:1,c:1", "--master-password-file", write(t, "pw", password))
	}
	running := load2(cert, key, "one")
	cert, key = validCertificate(t)
	next := load2(cert, key, "two")
	merged, _, restart, err := Reload(running, next)
	if err != nil || restart != nil {
		t.Fatalf("restart %q, error %v", restart, err)
	}
	if merged.ServerTLS != next.ServerTLS || merged.MasterTLS != next.MasterTLS || merged.Masters[2].Password != "two" {
		t.Error("certificates or passwords are the old ones")
	}
}

// The number and order of masters is what the engine was made with.
func TestOtherMastersWaitForARestartWithAllThatBelongsToThem(t *testing.T) {
	running := load(t, nil, "--master", "a:1,b:1,c:1")
	next := load(t, []string{"REDLOCK_PROXY_MASTER_PASSWORD=x"}, "--master", "a:1,b:1,d:1")
	merged, live, restart, err := Reload(running, next)
	if err != nil || live != nil {
		t.Fatalf("live %q, error %v", live, err)
	}
	if want := []string{"master", "master-password"}; !reflect.DeepEqual(restart, want) {
		t.Errorf("restart %q, want %q", restart, want)
	}
	if !reflect.DeepEqual(merged.Masters, running.Masters) {
		t.Errorf("masters %v, want %v", merged.Masters, running.Masters)
	}
}

// A new file may take away the password together with the listener that needs
// it; but the listener stays until the restart.
func TestReloadNeverLeavesAnOpenListenerBehind(t *testing.T) {
	running := load(t, []string{"REDLOCK_PROXY_REQUIREPASS=x"}, "--listen", ":6380")
	next := load(t, nil, "--listen", "127.0.0.1:6380")
	_, _, _, err := Reload(running, next)
	if err == nil || !strings.Contains(err.Error(), "other machines can reach :6380, and nobody has to prove who he is there until the restart; keep the password, or restart") {
		t.Errorf("error %v", err)
	}
	local := load(t, []string{"REDLOCK_PROXY_REQUIREPASS=x"}, "--listen", "127.0.0.1:6380")
	if merged, _, _, err := Reload(local, next); err != nil || merged.Password != "" {
		t.Errorf("the password of a local listener cannot be taken away: %v", err)
	}
}

func TestReloadOfTheSameChangesNothing(t *testing.T) {
	running, next := load(t, nil, "--master", "a:1"), load(t, nil, "--master", "a:1")
	if _, live, restart, err := Reload(running, next); live != nil || restart != nil || err != nil {
		t.Errorf("live %q, restart %q, error %v", live, restart, err)
	}
}
