package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"redlock-proxy/conf"
)

// Both doors of a proxy tell the same, and neither wrong passwords nor a proxy that grants nothing
// pass for one that does.
func TestStatusIsToldByEitherDoor(t *testing.T) {
	env := []string{"REDLOCK_PROXY_REQUIREPASS=secret"}
	p := startProgram(t, env, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	address := p.await(`listening: address=(\S+)`)
	admin := strings.TrimPrefix(p.await(`the admin listener is open: at=(\S+)`), "http://")
	p.await(`every master has been tried: ready=true`)
	var told []standing
	for _, args := range [][]string{{"--listen", address}, {"--listen", "127.0.0.1:1", "--admin-listen", admin}} {
		stdout, stderr, code := runProgram(t, env, append([]string{"status", "--json"}, args...)...)
		var s standing
		if err := json.Unmarshal([]byte(stdout), &s); err != nil || code != 0 || !s.Grants || len(s.Masters) != 3 || s.Masters[2].State != "voting" {
			t.Fatalf("%q: exit code %d, %v\n%s%s", args, code, err, stdout, stderr)
		}
		told = append(told, s)
	}
	if told[0].Text != told[1].Text || told[0].Masters[1].Name != told[1].Masters[1].Name || told[0].Proxies[0].ID != told[1].Proxies[0].ID || !told[1].Proxies[0].ThisOne {
		t.Errorf("they differ: %+v", told)
	}
	stdout, _, code := runProgram(t, env, "status", "--listen", address)
	for _, want := range []string{"locks are granted, 3 of 3 masters vote", "\nMASTER ", told[0].Masters[0].Name + "  voting  ", "\nPROXY ", " (this one)"} {
		if !strings.Contains(stdout, want) || code != 0 {
			t.Errorf("exit code %d, want %q:\n%s", code, want, stdout)
		}
	}
	_, stderr, code := runProgram(t, []string{"REDLOCK_PROXY_REQUIREPASS=wrong"}, "status", "--listen", address, "--admin-listen", admin)
	if code != 1 || !strings.Contains(stderr, "WRONGPASS") || !strings.Contains(stderr, "401") {
		t.Errorf("by a wrong password: exit code %d\n%s", code, stderr)
	}
}

func TestStatusOfAProxyThatGrantsNothingIsOne(t *testing.T) {
	master, _ := silentMaster(t)
	p := startProgram(t, nil, "--listen", "127.0.0.1:0", "--master", master, "--connect-timeout", "100ms")
	address := p.await(`listening: address=(\S+)`)
	p.await(`every master has been tried: ready=false`)
	if stdout, stderr, code := runProgram(t, nil, "status", "--listen", address); code != 1 || !strings.HasPrefix(stdout, "no locks are granted") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

// What the page is told of a quarantine is what LOCK MASTERS says of it.
func TestBothDoorsHaveTheSameWords(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 12, 0, time.UTC)
	var o overview
	if err := json.Unmarshal([]byte(`{"masters":[{"name":"a","state":"catching-up","since":"2026-01-01T00:00:00.000Z","why":"its marker is gone","leftMs":61000,
		"roundTripUs":200,"clockKnown":true,"clockOffsetMs":-0.01,"queue":1,"debts":2,"version":"7.2.0","catchUp":{"copied":3,"sources":1,"needed":2},
		"troubles":[{"at":"2026-01-01T00:00:00.000Z","text":"quarantined"}]}],"proxies":[]}`), &o); err != nil {
		t.Fatal(err)
	}
	reply := value{kind: '*'}
	for _, text := range []string{"name", "a", "state", "catching-up", "since", "2026-01-01T00:00:00Z, 12s ago", "why", "its marker is gone", "left", "1m1s",
		"catch-up", "copied=3 sources=1/2", "clock-offset", "+0.0ms", "round-trip-us", "200", "queue", "1", "debts", "2", "version", "7.2.0"} {
		reply.elems = append(reply.elems, value{kind: '$', text: text})
	}
	reply.elems = append(reply.elems, value{text: "troubles"}, value{elems: []value{{text: "2026-01-01T00:00:00Z quarantined"}}})
	one, two := masterOfFields(reply.fields()), standingOf("x", &o, now).Masters[0]
	if !reflect.DeepEqual(one, two) {
		t.Errorf("%+v\n%+v", one, two)
	}
	if text := withAge("2026-01-01T00:00:00.250Z", now); text != "2026-01-01T00:00:00Z, 12s ago" || withAge("", now) != "" {
		t.Errorf("of a proxy it is told %q", text)
	}
}

func TestStatusDoesNothingToATerminal(t *testing.T) {
	var out bytes.Buffer
	s := standing{Text: "a\x1b[2Jb", Masters: []masterStanding{{Name: "m\tn", Why: "é\u202e"}}}
	s.print(&out)
	if text := out.String(); strings.ContainsAny(text, "\x1b\t\u202e") || !strings.Contains(text, "a?[2Jb") || !strings.Contains(text, "é?") {
		t.Errorf("%q", text)
	}
}

func TestRepliesThatAreNoneAreErrors(t *testing.T) {
	for _, text := range []string{"*2\r\n:1\r\n", "*-1\r\n", "$-2\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "!1\r\n", ":x\r\n"} {
		if v, err := readValue(bufio.NewReader(strings.NewReader(text)), maxDepth); err == nil {
			t.Errorf("%q is read as %+v", text, v)
		}
	}
	v, err := readValue(bufio.NewReader(strings.NewReader("*3\r\n:7\r\n$2\r\n\r\n\r\n*1\r\n-ERR x\r\n")), maxDepth)
	want := value{'*', "3", []value{{':', "7", nil}, {'$', "\r\n", nil}, {'*', "1", []value{{'-', "ERR x", nil}}}}}
	if err != nil || !reflect.DeepEqual(v, want) {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestBuildIsTold(t *testing.T) {
	told := buildLines(&debug.BuildInfo{Path: "p", Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}, {Key: "vcs.time", Value: "2026-01-01T00:00:00Z"}, {Key: "GOAMD64", Value: "v1"},
	}})
	if want := "revision   abc, with changes that are not committed\ncommitted  2026-01-01T00:00:00Z\npackage    p\n"; told != want {
		t.Errorf("%q", told)
	}
	if stdout, _, code := runProgram(t, nil, "version"); code != 0 || !strings.HasPrefix(stdout, versionLine()+"\n") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
}

// A server that is none of ours does nothing to the terminal of who looks at it.
func TestNothingThatIsToldDoesAnythingToATerminal(t *testing.T) {
	const red = "-ERR \x1b[31mred\r\n"
	for _, c := range []struct {
		flag string
		run  func(cfg *conf.Config, stdout, stderr io.Writer) int
	}{{"--master", examine}, {"--listen", status}, {"--listen", ping}, {"--listen", ready}} {
		address, _ := answering(t, red)
		var said bytes.Buffer
		c.run(loaded(t, c.flag, address), &said, &said)
		if text := said.String(); !strings.Contains(text, "ERR ?[31mred") || strings.Contains(text, "\x1b") {
			t.Errorf("%s: %q", c.flag, text)
		}
	}
}

// Who writes a page to a disk that is full is not told that it is there.
func TestWhatCannotBePrintedIsAFailure(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no device that is full")
	}
	defer full.Close()
	for _, args := range []string{"--help", "version", "man", "completion bash", "check", "doctor --json --master 127.0.0.1:1"} {
		var stderr bytes.Buffer
		if code := run(strings.Fields(args), full, &stderr); code == exitOK || !strings.Contains(stderr.String(), "cannot be printed") {
			t.Errorf("%s: exit code %d, %s", args, code, &stderr)
		}
	}
}
