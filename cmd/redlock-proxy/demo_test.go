package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// order gives one as the page does.
func order(t *testing.T, url, body string) (code int, said string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url+"/api/order", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", url)
	return answer(t, r)
}

// What the invitation tells to try is so: whatever becomes of a master, it votes again.
func TestMastersOfADemoAreBrokenAndMended(t *testing.T) {
	var invitation bytes.Buffer
	p := startProgramTo(t, &invitation, "demo", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	told := p.awaitAll(`master is voting: master=(\S+)`, `listening: address=(\S+)`, `the admin listener is open: at=(\S+)`, `every master has been tried: ready=true`)
	master, address, url := told[0], told[1], told[2]
	give := func(name, more string, want int) {
		t.Helper()
		body := fmt.Sprintf(`{"order":%q,"master":%q,"reason":"to see it"%s}`, name, master, more)
		if code, said := order(t, url, body); code != want {
			t.Fatalf("%s: %d %s", body, code, said)
		}
	}
	give("start-blank", "", 409) // it runs
	give("thaw", "", 409)
	give("kill", "", 200)
	p.await(`master is down: master=` + master)
	give("kill", "", 409)
	give("freeze", "", 409)
	give("start-blank", "", 200)
	p.await(`master has caught up: master=` + master)
	p.await(`master is voting: master=` + master)
	give("freeze", "", 200)
	give("freeze", "", 409)
	p.await(`master is down: master=` + master + ` reason="no answer in time"`)
	give("kill", "", 200) // which does not wait for it to thaw
	give("start-recalled", "", 200)
	p.await(`master is quarantined: master=` + master + ` reason="its process was started anew"`)
	p.await(`master is voting: master=` + master)
	give("set-clock", `,"seconds":3600`, 200)
	p.await(`master is quarantined: master=` + master + ` reason="its clock has jumped by (?:1h0m|59m59)`) // less, by what it took to look
	p.await(`master is voting: master=` + master)
	if code, said := order(t, url, `{"order":"kill","master":"nobody","reason":"r"}`); code != 404 {
		t.Errorf("of a master that there is not: %d %s", code, said)
	}
	e := endpoint{network: "tcp", address: address}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		clients, err := e.ask(patience, "CLIENT", "LIST")
		held, err2 := e.ask(patience, "EXISTS", "demo:stock")
		if err == nil && err2 == nil && strings.Contains(clients, "name=till-3") && held == "1" {
			break
		}
		if time.Since(began) > patience {
			t.Fatalf("no client of the demo locks: %s %s, %v, %v", clients, held, err, err2)
		}
	}
	give("freeze", "", 200)
	p.signal(syscall.SIGTERM) // frozen masters do not keep it from its end
	if code := p.exitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if text := invitation.String(); !strings.Contains(text, "The page:  "+url) || !strings.Contains(text, "status --watch --listen "+address) {
		t.Errorf("it invites to\n%s", text)
	}
}

func TestNobodyBreaksMastersOutsideOfADemo(t *testing.T) {
	p := startProgram(t, nil, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--user", "default on nopass ~* &* +@all")
	told := p.awaitAll(`the admin listener is open: at=(\S+)`, `master is voting: master=(\S+)`, `every master has been tried: ready=true`)
	url, master := told[0], told[1]
	for _, name := range []string{"kill", "freeze", "start-blank", "thaw"} {
		if code, said := order(t, url, fmt.Sprintf(`{"order":%q,"master":%q,"reason":"r"}`, name, master)); code != 400 {
			t.Errorf("%s: %d %s", name, code, said)
		}
	}
	if code, said := order(t, url, fmt.Sprintf(`{"order":"drain","master":%q,"reason":"r"}`, master)); code != 200 {
		t.Errorf("drain: %d %s", code, said)
	}
	for args, want := range map[string]string{
		"demo --master a:1":     "a demo brings some along",
		"demo --admin-listen=":  "a demo is looked at by its page",
		"demo --listen 1.2.3.4": "is not host:port",
	} {
		if _, stderr, code := runProgram(t, nil, strings.Fields(args)...); code != 78 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d\n%s", args, code, stderr)
		}
	}
}

func TestScriptsSelectADatabaseForCallsOfBothKinds(t *testing.T) {
	list, err := startEmbedded(1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeEmbedded(list)
	e := endpoint{network: "tcp", address: list[0].address}
	said, err := e.converse(patience, []string{"SELECT", "3"}, []string{"SET", "k", "three"}, []string{"SELECT", "0"},
		[]string{"EVAL", "redis.pcall('SELECT',3) return redis.call('GET',KEYS[1])", "1", "k"},
		[]string{"EVAL", "redis.call('SELECT',3) return redis.pcall('GET',KEYS[1])", "1", "k"},
		[]string{"EVAL", "return redis.pcall('SELECT','x').err", "0"},
		[]string{"EXISTS", "k"})
	if err != nil || len(said) != 7 || said[3].text != "three" || said[4].text != "three" || !strings.Contains(said[5].text, "not an integer") || said[6].number() != 0 {
		t.Errorf("%+v, %v", said, err)
	}
}
