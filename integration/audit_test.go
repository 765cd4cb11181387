package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// auditLine is a line of an audit log.
type auditLine struct {
	Time, Event, Proxy, Door, From, User, Command, Key, Master, Reason, Why, Outcome string
	DB                                                                               *int
	Votes                                                                            map[string]string
}

func (l *auditLine) String() string {
	return strings.Join(strings.Fields(fmt.Sprint(l.Event, " ", l.Door, " ", l.Command, " ", l.Key, " ", l.Master, " ", l.Reason, " ", l.Why, " ", l.Outcome)), " ")
}

// auditLines reads a file, of which every line has to be whole. That this harness looks whether the
// proxy is there is not for the tests.
func auditLines(path string) (list []auditLine, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for text := range bytes.Lines(b) {
		var l auditLine
		if err := json.Unmarshal(text, &l); err != nil || text[len(text)-1] != '\n' {
			return nil, fmt.Errorf("%s is no whole line: %v", text, err)
		}
		if len(list) > 0 && l.Time < list[len(list)-1].Time {
			return nil, fmt.Errorf("%s is not in its order", text)
		}
		if l.Command != "PING" {
			list = append(list, l)
		}
	}
	return list, nil
}

// wantAudited waits until a file has these lines and no others, and gives them.
func wantAudited(t *testing.T, path string, want ...string) (lines []auditLine) {
	t.Helper()
	eventually(t, func() error {
		var err error
		if lines, err = auditLines(path); err != nil {
			return err
		}
		var got []string
		for i := range lines {
			got = append(got, lines[i].String())
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			return fmt.Errorf("told:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		return nil
	})
	return lines
}

// order gives an order by the page, as the user of a password.
func (w *watch) order(origin, password, body string) (code int) {
	w.t.Helper()
	r, err := http.NewRequest("POST", w.url+"/api/order", strings.NewReader(body))
	must(w.t, err)
	r.SetBasicAuth("default", password)
	r.Header.Set("Origin", origin)
	r.Header.Set("Content-Type", "application/json")
	resp, err := w.client.Do(r)
	must(w.t, err)
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	must(w.t, err)
	return resp.StatusCode
}

// What an auditor reads of a night, with a file that is rotated in the middle of it.
func TestAuditLogTellsWhoOrderedWhatAndWhoWasDenied(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	path := filepath.Join(t.TempDir(), "audit")
	const password = "the-pass-word"
	p := launch(t, ProxyOptions{Args: append(append(flags(masters), patient...),
		"--user", "default on nopass ~* &* +@all", "--requirepass", password, "--admin-listen", "127.0.0.1:0", "--audit-log", path)})
	page := adminOf(t, p)
	connect := func() talk {
		c := dial(t, p.Addr)
		c.want("OK", "AUTH", password)
		return c
	}
	awaitVotingAs(t, p, 3, connect)
	c := connect()

	stranger := dial(t, p.Addr)
	stranger.do("SET", "a-strangers-key", "a-strangers-token", "NX", "PX", "1000")
	stranger.do("GET", "a-strangers-key")
	stranger.do("AUTH", "a-wrong-password")
	c.want("OK", "SET", "k", "the-token", "NX", "PX", milliseconds(ttl))
	c.want("OK", "CLIENT", "SETNAME", "night-shift")
	holder := fieldOf(c.do("LOCK", "INFO", "k"), "holder")
	c.text("LOCK", "FORCE", "k", "HOLDER", holder, "REASON", "its", "host", "burnt")
	c.text("LOCK", "DRAIN", masters[0].Addr)
	c.want("OK", "CONFIG", "SET", "slowlog-max-len", "4711")
	c.do("CONFIG", "SET", "log-level", "a-wrong-value")
	c.want("OK", "FLUSHALL")
	origin := page.url
	for i, row := range []struct {
		origin, password, body string
		code                   int
	}{
		{origin, password, `{"order":"resume","master":"` + masters[0].Addr + `","reason":"repaired"}`, 200},
		{origin, password, `{"order":"free","db":2,"key":"other","reason":"stuck"}`, 200},
		{origin, "a-wrong-password", `{"order":"free","db":2,"key":"other","reason":"stuck"}`, 401},
		{"http://elsewhere", password, `{"order":"free","db":2,"key":"other","reason":"stuck"}`, 403},
	} {
		if code := page.order(row.origin, row.password, row.body); code != row.code {
			t.Errorf("order %d of the page: %d, want %d", i, code, row.code)
		}
	}
	lines := wantAudited(t, path, "start process",
		"denial client SET no password was given", "denial client AUTH wrong password",
		"order client LOCK FORCE k its host burnt done", "order client LOCK DRAIN "+masters[0].Addr+" done",
		"order client CONFIG SET done", "order client CONFIG SET refused", "order client FLUSHALL done",
		"order admin LOCK RESUME "+masters[0].Addr+" repaired done", "order admin DEL other stuck done",
		"denial admin wrong password", "denial admin another site's page asks")
	if l := lines[3]; len(l.Votes) != 3 || l.User != "default" || l.From == "" || l.DB == nil || *l.DB != 0 {
		t.Errorf("of LOCK FORCE: %+v", l)
	}
	if l := lines[9]; l.User != "default" || l.From == "" || l.DB == nil || *l.DB != 2 {
		t.Errorf("of DEL: %+v", l)
	}

	must(t, os.Rename(path, path+".1"))
	must(t, p.Signal(syscall.SIGHUP))
	wantAudited(t, path, "reload process SIGHUP done")
	if code, err := p.Terminate(patience); code != 0 || err != nil {
		t.Errorf("it ends with %d, %v", code, err)
	}
	wantAudited(t, path, "reload process SIGHUP done", "stop process")
	for _, path := range []string{path, path + ".1"} {
		b, err := os.ReadFile(path)
		must(t, err)
		for _, secret := range []string{password, "the-token", "a-strangers-token", "a-wrong-password", "a-wrong-value", "4711"} {
			if strings.Contains(string(b), secret) {
				t.Errorf("%s is told:\n%s", secret, b)
			}
		}
	}
}

// The night of which one wants to know, and the disk is gone.
func TestOrdersAreCarriedOutWhereTheyCannotBeWrittenDown(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "log")
	must(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "audit")
	masters, p := startQuorum(t, 3, "--user", "default on nopass ~* &* +@all", "--audit-log", path)
	c := dial(t, p.Addr)
	wantAudited(t, path, "start process")
	must(t, os.Rename(dir, dir+".gone"))
	c.text("LOCK", "DRAIN", masters[0].Addr)
	eventually(t, func() error {
		return logged(p, "the audit log cannot be written; orders are carried out all the same, and their lines wait: error=")
	})
	c.want("OK", "LOCK", "RESUME", masters[0].Addr)
	if info := c.text("INFO", "stats"); !strings.Contains(info, "audit_lines_lost:0\r\n") {
		t.Errorf("lines are lost:\n%s", info)
	}
	must(t, os.Mkdir(dir, 0o700))
	must(t, p.Signal(syscall.SIGHUP))
	wantAudited(t, path, "order client LOCK DRAIN "+masters[0].Addr+" done", "order client LOCK RESUME "+masters[0].Addr+" done", "reload process SIGHUP done")
	eventually(t, func() error { return logged(p, "the audit log is written again") })
}
