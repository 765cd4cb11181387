package conf

import (
	"os"
	"strings"
	"testing"
)

// unitFile reads the settings of a unit by section and name, as
// systemd does: a line is a comment, a section or a setting.
func unitFile(t *testing.T, name string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	settings, section := map[string]string{}, ""
	for i, line := range strings.Split(string(b), "\n") {
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			section = line[1 : len(line)-1]
		default:
			name, value, ok := strings.Cut(line, "=")
			key := section + "." + name
			if _, twice := settings[key]; !ok || section == "" || twice || strings.TrimSpace(name) != name || strings.Contains(value, "#") {
				t.Errorf("line %d is no setting of its own: %q", i+1, line)
			}
			settings[key] = value
		}
	}
	return settings
}

func TestUnitStartsTheProgramAsItMayBeStarted(t *testing.T) {
	unit := unitFile(t, "redlock-proxy.service")
	args := strings.Fields(unit["Service.ExecStart"])
	if len(args) < 2 || args[0] != "redlock-proxy" {
		t.Fatalf("ExecStart=%s", unit["Service.ExecStart"])
	}
	cl := parseArgs(args[1:])
	if cl.problems != nil || cl.command != Serve {
		t.Errorf("ExecStart is %v with problems %v", cl.command, cl.problems)
	}
	for name, want := range map[string]string{
		"Service.Type": "notify", "Service.Environment": "REDLOCK_PROXY_EMBEDDED=0", "Service.NotifyAccess": "main", "Service.ExecReload": "/bin/kill -HUP $MAINPID",
		"Service.Restart": "on-failure", "Service.RestartPreventExitStatus": "78", "Service.DynamicUser": "yes",
		"Service.NoNewPrivileges": "yes", "Service.ProtectSystem": "strict", "Service.UMask": "0077",
		"Install.WantedBy": "multi-user.target",
	} {
		if unit[name] != want {
			t.Errorf("%s=%s, want %s", name, unit[name], want)
		}
	}
}

// What the unit allows is enough for the defaults.
func TestUnitFitsTheDefaults(t *testing.T) {
	unit, defaults := unitFile(t, "redlock-proxy.service"), load(t, nil)
	seconds := lookup("timeout")
	stop, problem := seconds.duration(unit["Service.TimeoutStopSec"])
	if problem != nil || stop <= defaults.ShutdownTimeout {
		t.Errorf("TimeoutStopSec=%s, but shutdown-timeout is %s", unit["Service.TimeoutStopSec"], defaults.ShutdownTimeout)
	}
	files, problem := lookup("max-clients").number(unit["Service.LimitNOFILE"])
	if problem != nil || files < 2*defaults.MaxClients {
		t.Errorf("LimitNOFILE=%s, but max-clients is %d", unit["Service.LimitNOFILE"], defaults.MaxClients)
	}
	if _, problem := seconds.duration(unit["Service.WatchdogSec"]); problem != nil {
		t.Errorf("WatchdogSec=%s: %v", unit["Service.WatchdogSec"], problem)
	}
}

// TestSocketUnitIsOfTheDefaults: the service takes only what its configuration names.
func TestSocketUnitIsOfTheDefaults(t *testing.T) {
	unit, defaults := unitFile(t, "redlock-proxy.socket"), load(t, nil)
	if got := unit["Socket.ListenStream"]; len(defaults.Listeners) != 1 || got != defaults.Listeners[0].Address {
		t.Errorf("ListenStream=%s, but listen is %v", got, defaults.Listeners)
	}
	if got := unit["Socket.FileDescriptorName"]; lookup(got) == nil || got != "listen" {
		t.Errorf("FileDescriptorName=%s", got)
	}
}
