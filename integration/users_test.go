package integration

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Several teams have one proxy: each its keys and its channels, and one that operates.
const teams = `# who may what
user default off
user billing on >b1 ~billing:* &billing:* +@lock
user client on certificate ~stock:* &stock:* +@lock
user oncall on >o1 ~* &* +@all
`

// startTeams starts a proxy of such users, over masters; connected gives a client of one of them.
func startTeams(t *testing.T, masters []*Redis, aclfile string, more ...string) (p *Proxy, connected func(user, password string) talk) {
	t.Helper()
	p = launch(t, ProxyOptions{Args: append(append(flags(masters), patient...), append(more, "--aclfile", aclfile)...)})
	connected = func(user, password string) talk {
		c := dial(t, p.Addr)
		c.want("OK", "AUTH", user, password)
		return c
	}
	awaitVotingAs(t, p, len(masters), func() talk { return connected("oncall", "o1") })
	return p, connected
}

// refusal is the error that a command is answered with, or that there is no answer any more; "" if it is
// carried out.
func refusal(c interface{ Do(...string) (any, error) }, args ...string) string {
	reply, err := c.Do(args...)
	if f, is := reply.(Failure); is {
		return string(f)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// wantDenied wants what a user may not to be answered so.
func wantDenied(t *testing.T, c talk, args ...string) {
	t.Helper()
	if text := refusal(c, args...); !strings.HasPrefix(text, "NOPERM ") {
		t.Errorf("%v: %s", args, text)
	}
}

func TestTeamsShareAProxy(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	_, connected := startTeams(t, masters, writeFile(t, teams))
	billing, oncall := connected("billing", "b1"), connected("oncall", "o1")

	// What is theirs they lock, extend and release, by whatever their libraries send.
	cycle(billing, "billing:1")
	billing.want("OK", acquireArgs("billing:1", "t1", ttl)...)
	oncall.want("OK", acquireArgs("stock:1", "t2", ttl)...)
	wantDenied(t, billing, acquireArgs("stock:2", "t", ttl)...)
	wantDenied(t, billing, "GET", "stock:1")
	wantDenied(t, billing, "EVAL", "return redis.call('del', KEYS[1])", "1", "stock:1")
	if text := refusal(billing, "EVAL", "return redis.call('del', ARGV[1])", "1", "billing:1", "stock:1"); !strings.Contains(text, "not given") {
		t.Errorf("a key that a script was not given: %s", text)
	}
	wantDenied(t, billing, "DEL", "billing:1", "stock:1")
	wantDenied(t, billing, "LOCK", "FORCE", "billing:1", "HOLDER", "0123456789abcdef")
	wantDenied(t, billing, "FLUSHALL")
	wantDenied(t, billing, "SUBSCRIBE", "stock:1")
	oncall.want("t2", "GET", "stock:1")
	oncall.want("t1", "GET", "billing:1")

	// Nor do they learn the names.
	for _, command := range []string{"SCAN 0 COUNT 100", "RANDOMKEY"} {
		reply, err := billing.Do(strings.Fields(command)...)
		must(t, err)
		if names := fmt.Sprint(reply); !strings.Contains(names, "billing:1") || strings.Contains(names, "stock") {
			t.Errorf("%s: %s", command, names)
		}
	}

	// What is denied is told, and what changes holds at once.
	if log := fmt.Sprint(oncall.Do("ACL", "LOG", "100")); !strings.Contains(log, "stock:2") || !strings.Contains(log, "flushall") || !strings.Contains(log, "billing") {
		t.Error(log)
	}
	billing.want("OK", "MULTI")
	billing.want("QUEUED", "SET", "billing:2", "v")
	oncall.want("OK", "ACL", "SETUSER", "billing", "resetkeys", "~invoices:*")
	if text := refusal(billing, "EXEC"); !strings.HasPrefix(text, "EXECABORT") {
		t.Errorf("EXEC: %s", text)
	}
	wantDenied(t, billing, "GET", "billing:1")
	billing.want(nil, "GET", "invoices:1")
	oncall.want(int64(1), "ACL", "DELUSER", "billing")
	if refusal(billing, "GET", "invoices:1") == "" {
		t.Error("a user who is gone is served")
	}
}

func TestFileOfUsersIsLoadedAndSaved(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 1)
	path := filepath.Join(t.TempDir(), "users")
	must(t, os.WriteFile(path, []byte(teams), 0o600))
	p, connected := startTeams(t, masters, path)
	oncall, billing := connected("oncall", "o1"), connected("billing", "b1")

	// A file that is wrong anywhere changes nothing.
	must(t, os.WriteFile(path, []byte(teams+"user new on nonsense\n"), 0o600))
	if text := refusal(oncall, "ACL", "LOAD"); !strings.Contains(text, "line 6") || !strings.Contains(text, "no change") {
		t.Errorf("ACL LOAD: %s", text)
	}
	billing.want("OK", acquireArgs("billing:1", "t", ttl)...)

	// Who is another one then is ended, and the others go on.
	must(t, os.WriteFile(path, []byte(strings.ReplaceAll(teams, "b1", "b2")), 0o600))
	oncall.want("OK", "ACL", "LOAD")
	if refusal(billing, "PING") == "" {
		t.Error("who has come with an old password goes on")
	}
	if refusal(dial(t, p.Addr), "AUTH", "billing", "b1") == "" {
		t.Error("the old password is right")
	}
	connected("billing", "b2").want("t", "GET", "billing:1")

	oncall.want("OK", "ACL", "SETUSER", "billing", "+flushdb", ">new-one", "<b2")
	oncall.want("OK", "ACL", "SAVE")
	b, err := os.ReadFile(path)
	must(t, err)
	info, err := os.Stat(path)
	must(t, err)
	if text := string(b); strings.Contains(text, "new-one") || !strings.Contains(text, "user billing on #") || !strings.Contains(text, "+flushdb") || info.Mode().Perm() != 0o600 {
		t.Errorf("%v\n%s", info.Mode(), text)
	}
	oncall.want("OK", "ACL", "SETUSER", "billing", ">b4")
	oncall.want("OK", "ACL", "LOAD")
	connected("billing", "new-one")
	if refusal(dial(t, p.Addr), "AUTH", "billing", "b4") == "" {
		t.Error("what was not saved is there after ACL LOAD")
	}
}

func TestCertificateNamesAUser(t *testing.T) {
	t.Parallel()
	certificates, err := NewCertificates(t.TempDir())
	must(t, err)
	masters := startMasters(t, 1)
	port, err := FreePort()
	must(t, err)
	secured := "127.0.0.1:" + strconv.Itoa(port)
	_, connected := startTeams(t, masters, writeFile(t, teams), "--tls-listen", secured, "--tls-auth-clients", "optional",
		"--tls-cert-file", certificates.ServerCert, "--tls-key-file", certificates.ServerKey, "--tls-ca-cert-file", certificates.CA)
	c, err := DialTLS(secured, certificates.Client())
	must(t, err)
	defer c.Close()
	stock := talk{c, t}
	stock.want("client", "ACL", "WHOAMI")
	stock.want("OK", acquireArgs("stock:1", "t", ttl)...)
	wantDenied(t, stock, "GET", "billing:1")

	// Without a certificate, or if his rules do not say that one names him, nobody is anybody.
	if c, err := DialTLS(secured, certificates.Anonymous()); err == nil {
		if text := refusal(c, "GET", "stock:1"); !strings.HasPrefix(text, "NOAUTH") {
			t.Errorf("without a certificate: %s", text)
		}
		c.Close()
	}
	oncall := connected("oncall", "o1")
	oncall.want("OK", "ACL", "SETUSER", "client", "nocertificate")
	other, err := DialTLS(secured, certificates.Client())
	must(t, err)
	defer other.Close()
	if text := refusal(other, "GET", "stock:1"); !strings.HasPrefix(text, "NOAUTH") {
		t.Errorf("a user whom no certificate names: %s", text)
	}
}

func TestAdminListenerIsForWhoMayLookIntoAllLocks(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 1)
	p, _ := startTeams(t, masters, writeFile(t, teams), "--admin-listen", "127.0.0.1:0")
	url := adminOf(t, p).url
	for _, row := range []struct {
		path, user, password string
		code                 int
	}{
		{"/livez", "", "", 200}, {"/metrics", "", "", 401}, {"/metrics", "oncall", "wrong", 401}, {"/metrics", "nobody", "o1", 401},
		{"/metrics", "default", "", 401}, {"/metrics", "billing", "b1", 403}, {"/api/overview", "billing", "b1", 403},
		{"/metrics", "oncall", "o1", 200}, {"/debug/pprof/", "oncall", "o1", 200}, {"/debug/pprof/", "billing", "b1", 403},
	} {
		r, err := http.NewRequest("GET", url+row.path, nil)
		must(t, err)
		if row.user != "" {
			r.SetBasicAuth(row.user, row.password)
		}
		resp, err := http.DefaultClient.Do(r)
		must(t, err)
		resp.Body.Close()
		if resp.StatusCode != row.code {
			t.Errorf("%s of %s: %d, want %d", row.path, row.user, resp.StatusCode, row.code)
		}
	}
}
