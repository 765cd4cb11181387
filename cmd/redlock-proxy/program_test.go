package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// beProgram makes this test binary be the program itself, so that it is tested
// as a process without another build.
const beProgram = "TEST_BINARY_IS_REDLOCK_PROXY=1"

func TestMain(m *testing.M) {
	if name, _, _ := strings.Cut(beProgram, "="); os.Getenv(name) != "" {
		main()
	}
	os.Exit(m.Run())
}

// patience is how long anything may take on a machine that is busy.
const patience = 20 * time.Second

func command(environ []string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append([]string{beProgram, "PATH=" + os.Getenv("PATH"), "GORACE=exitcode=66"}, environ...)
	return c
}

// runProgram runs it to its end.
func runProgram(t *testing.T, environ []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	c := command(environ, args...)
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// program is one that serves, and its log.
type program struct {
	t       *testing.T
	cmd     *exec.Cmd
	mu      sync.Mutex // guards log
	log     strings.Builder
	lines   chan string // of the log, while there is room
	drained chan struct{}
}

func startProgram(t *testing.T, environ []string, args ...string) *program {
	t.Helper()
	return startCommand(t, command(environ, args...))
}

// startProgramTo starts it with a standard output, which is whole when it has ended.
func startProgramTo(t *testing.T, stdout io.Writer, args ...string) *program {
	t.Helper()
	c := command(nil, args...)
	c.Stdout = stdout
	return startCommand(t, c)
}

func startCommand(t *testing.T, c *exec.Cmd) *program {
	t.Helper()
	p := &program{t: t, cmd: c, lines: make(chan string, 1000), drained: make(chan struct{})}
	pipe, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.drain(pipe)
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			p.cmd.Process.Kill()
			<-p.drained
			p.cmd.Wait()
		}
		if t.Failed() {
			t.Logf("the log:\n%s", p.logged())
		}
	})
	return p
}

func (p *program) drain(pipe io.Reader) {
	defer close(p.drained)
	defer close(p.lines)
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		p.mu.Lock()
		p.log.WriteString(lines.Text() + "\n")
		p.mu.Unlock()
		select {
		case p.lines <- lines.Text():
		default: // nobody waits for so many
		}
	}
}

func (p *program) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// await reads the log on to a line that matches, and gives its last group.
func (p *program) await(pattern string) string {
	p.t.Helper()
	return p.awaitAll(pattern)[0]
}

// awaitAll is await of several lines, which may come in any order.
func (p *program) awaitAll(patterns ...string) []string {
	p.t.Helper()
	found := make(map[string]string)
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for len(found) < len(patterns) {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("the log ends with %q of %q", found, patterns)
			}
			for _, pattern := range patterns {
				if m := regexp.MustCompile(pattern).FindStringSubmatch(line); m != nil {
					found[pattern] = m[len(m)-1]
				}
			}
		case <-deadline.C:
			p.t.Fatalf("the log has %q of %q", found, patterns)
		}
	}
	list := make([]string, len(patterns))
	for i, pattern := range patterns {
		list[i] = found[pattern]
	}
	return list
}

func (p *program) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// exitCode waits for the end.
func (p *program) exitCode() int {
	p.t.Helper()
	deadline := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer deadline.Stop()
	<-p.drained
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// write puts a file into a directory of its own and gives its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSubcommandsThatDoNotServe(t *testing.T) {
	file := write(t, "c.toml", "max-clients = 7\nrequirepass = \"hunter2\"\n")
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string // parts of them
	}{
		{"--version", 0, "redlock-proxy ", ""},
		{"--help", 0, "--acquire-timeout=DURATION", ""},
		{"check --help", 0, "redlock-proxy check [flags]", ""},
		{"check", 0, `listen                  = ["127.0.0.1:6380"]               # default`, ""},
		{"check --config " + file, 0, "max-clients             = 7                                # file " + file + " line 1", ""},
		{"check --config " + file, 0, "requirepass             = (set)", ""},
		{"check --requirepass x", 0, "", "warning: --requirepass is on the command line, where ps shows it"},
		{"check --timeout 5 --nonsense", 78, "", "redlock-proxy: the configuration is wrong:\n  command line: unknown flag --nonsense; see --help\n  --timeout: \"5\" has no unit; write 5ms for milliseconds or 5s for seconds\n"},
		{"version --nonsense x", 78, "", "unknown flag --nonsense"},
		{"man --nonsense", 78, "", "unknown flag --nonsense"},
		{"completion ksh --nonsense", 78, "", "unknown flag --nonsense; see --help\n  completion: \"ksh\" is not a shell"},
		{"check --max-ttl 1x --config " + write(t, "users.toml", `user = ["ops +nonsense", "oncall !"]`), 78, "", "m or 1h30m\n  users: line 1: Error in ACL SETUSER modifier '+nonsense'"},
		{"--embedded 0", 78, "", "there is no master"},
		{"serve --listen :6380", 78, "", "set protected-mode no"},
		{"ping --listen unix:///nowhere", 1, "", "no sign of life from /nowhere"},
		{"ready --listen unix:///nowhere", 1, "", "no answer from /nowhere"},
		{"serve --listen unix:///nowhere/at/all", 1, "", "cannot start"},
	} {
		stdout, stderr, code := runProgram(t, nil, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%s: exit code %d, want %d, with parts %q and %q\n%s%s", c.args, code, c.code, c.stdout, c.stderr, stdout, stderr)
		}
		if strings.Contains(stdout+stderr, "hunter2") {
			t.Errorf("%s shows the password\n%s%s", c.args, stdout, stderr)
		}
	}
}

func TestServesOnEmbeddedMastersUntilItIsTerminated(t *testing.T) {
	p := startProgram(t, nil, "--listen", "127.0.0.1:0")
	address := p.await(`listening: address=(\S+)`)
	p.await(`every master has been tried: ready=true`)
	if stdout, stderr, code := runProgram(t, nil, "ping", "--listen", address); code != 0 || stdout != "PONG\n" {
		t.Errorf("ping: exit code %d\n%s%s", code, stdout, stderr)
	}
	if stdout, stderr, code := runProgram(t, nil, "ready", "--listen", address); code != 0 || stdout != "ready\n" {
		t.Errorf("ready: exit code %d\n%s%s", code, stdout, stderr)
	}
	e := endpoint{network: "tcp", address: address}
	if reply, err := e.ask(patience, "SET", "lock:a", "t", "NX", "PX", "30000"); err != nil || reply != "OK" {
		t.Errorf("SET: %q, %v", reply, err)
	}
	p.signal(syscall.SIGTERM)
	if code := p.exitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := strings.Count(p.logged(), "[WARN]"); n != 1 || !strings.Contains(p.logged(), "embedded masters are for trying out") {
		t.Errorf("%d warnings, want the one about embedded masters", n)
	}
}

// silentMaster accepts connections and never says anything. Whoever is
// connected shows on the channel.
func silentMaster(t *testing.T) (address string, connected <-chan struct{}) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seen, ended := make(chan struct{}, 1000), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			seen <- struct{}{}
		}
	}()
	t.Cleanup(func() { ln.Close(); <-ended })
	return ln.Addr().String(), seen
}

// timeout(1) signals the process and then its group.
func TestSignalThatComesTwiceAtOnceIsOne(t *testing.T) {
	p := startProgram(t, nil, "--listen", "127.0.0.1:0")
	p.await(`every master has been tried`)
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGTERM)
	if code := p.exitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestMastersThatAreAwayDoNotKeepItFromStartingAndEnding(t *testing.T) {
	address, connected := silentMaster(t)
	p := startProgram(t, nil, "--listen", "127.0.0.1:0", "--master", address, "--connect-timeout", "100ms")
	<-connected
	p.await(`every master has been tried: ready=false`)
	p.signal(syscall.SIGTERM)
	if code := p.exitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestLogMayBeJSON(t *testing.T) {
	p := startProgram(t, nil, "--listen", "127.0.0.1:0", "--log-format", "json", "--log-level", "warn")
	p.await(`^\{"@level":"warn","@message":"embedded masters are for trying out`)
	p.signal(syscall.SIGINT)
	if code := p.exitCode(); code != 0 || strings.Contains(p.logged(), `"info"`) {
		t.Errorf("exit code %d", code)
	}
}
