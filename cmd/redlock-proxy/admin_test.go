package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"redlock-proxy/conf"
)

// get asks the admin listener.
func get(t *testing.T, url, password string) (code int, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if password != "" {
		r.SetBasicAuth("default", password)
	}
	return answer(t, r)
}

// answer is what the admin listener says to a request.
func answer(t *testing.T, r *http.Request) (code int, body string) {
	t.Helper()
	resp, err := (&http.Client{Timeout: patience}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestAdminListenerAnswersUntilTheEnd(t *testing.T) {
	p := startProgram(t, []string{"REDLOCK_PROXY_REQUIREPASS=secret"}, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	url := p.await(`the admin listener is open: at=(\S+)`)
	p.await(`every master has been tried: ready=true`)
	if code, body := get(t, url+"/readyz", ""); code != 200 || body != "{\"ready\":true}\n" {
		t.Errorf("/readyz: %d %s", code, body)
	}
	if code, body := get(t, url+"/metrics", "secret"); code != 200 || !strings.Contains(body, "\nredlock_ready 1\n") || !strings.Contains(body, "\nredlock_masters 3\n") {
		t.Errorf("/metrics: %d\n%.1000s", code, body)
	}
	if code, _ := get(t, url+"/metrics", "wrong"); code != 401 {
		t.Errorf("a wrong password is answered %d", code)
	}
	p.await(`clients do not know the password: from=127.0.0.1 failures=1`)
	if code, _ := get(t, url+"/debug/pprof/", "secret"); code != 403 {
		t.Errorf("of who may not operate profiles are answered %d", code)
	}
	silent, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	p.signal(syscall.SIGTERM)
	if code := p.exitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestAdminListenerMayBeASocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin")
	p := startProgram(t, nil, "--listen", "127.0.0.1:0", "--admin-listen", "unix://"+path)
	p.await(`the admin listener is open: at=http://` + path)
	client := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) }}}
	resp, err := client.Get("http://localhost/livez")
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v, %v", resp, err)
	}
	resp.Body.Close()
	p.signal(syscall.SIGTERM)
	if code := p.exitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestAddressOfTheAdminListenerInUseIsNamedWithTheCure(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, stderr, code := runProgram(t, nil, "--listen", "127.0.0.1:0", "--admin-listen", ln.Addr().String())
	if code != 1 || !strings.Contains(stderr, "address already in use: end the process that listens there, have both share it by reuse-port, or choose another address with admin-listen") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// Who tries out two proxies has named no admin listener, and needs none.
func TestAnAdminListenerThatNobodyAskedForIsDoneWithout(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	cfg := loaded(t)
	cfg.Admin.Address = ln.Addr().String()
	var log strings.Builder
	logger, queue := newLogger(cfg, &log)
	p := &process{log: logger}
	if err := p.openAdmin(cfg, newDoor(cfg, nil)); err != nil || p.admin.listener != nil {
		t.Errorf("listener %v, error %v", p.admin.listener, err)
	}
	queue.close(patience)
	if !strings.Contains(log.String(), "there is no admin listener") {
		t.Errorf("the log: %s", log.String())
	}
	cfg.AdminByItself = false
	if err := p.openAdmin(cfg, newDoor(cfg, nil)); err == nil {
		t.Error("one that was asked for is done without")
	}
	cfg.Admin = conf.Address{}
	if err := p.openAdmin(cfg, newDoor(cfg, nil)); err != nil || p.admin.listener != nil {
		t.Errorf("without one: listener %v, error %v", p.admin.listener, err)
	}
}

func TestAdminServerGetsWhatIsInEffect(t *testing.T) {
	cfg := loaded(t, "--admin-listen", "localhost:1", "--admin-host", "other")
	if c := adminConfig(cfg, inEffect(cfg)); len(c.Hosts) != 2 || c.TLS != nil {
		t.Errorf("%+v", c)
	}
}
