package ship

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// patience is how long anything may take on a machine that is busy.
const patience = time.Minute

// builds is where the program is built, once.
var builds string

func TestMain(m *testing.M) {
	code := m.Run()
	if builds != "" {
		os.RemoveAll(builds)
	}
	os.Exit(code)
}

// program is the program, built as it is shipped.
func program(t *testing.T) string {
	t.Helper()
	if builds == "" {
		dir, err := os.MkdirTemp("", "redlock-proxy-ship")
		must(t, err)
		builds = dir
		build := exec.Command("go", "build", "-C", "../..", "-trimpath", "-ldflags=-s -w -X main.version=1.2.3", "-o", dir+"/redlock-proxy", "./cmd/redlock-proxy")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		output(t, build)
	}
	return builds + "/redlock-proxy"
}

// running is a process, and what it says.
type running struct {
	cmd   *exec.Cmd
	lines *bufio.Reader
	ended bool
}

// start starts a process that is ended with the test.
func start(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	out, err := cmd.StderrPipe()
	must(t, err)
	cmd.Stdout = cmd.Stderr
	must(t, cmd.Start())
	overdue := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	r := &running{cmd: cmd, lines: bufio.NewReader(out)}
	t.Cleanup(func() {
		overdue.Stop()
		if !r.ended {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	return r
}

// await reads on to a line that matches, and gives its group.
func (r *running) await(t *testing.T, pattern string) string {
	t.Helper()
	wanted, seen := regexp.MustCompile(pattern), ""
	for {
		line, err := r.lines.ReadString('\n')
		seen += line
		if m := wanted.FindStringSubmatch(line); m != nil {
			return m[len(m)-1]
		}
		if err != nil {
			t.Fatalf("%s ends without %q:\n%s", strings.Join(r.cmd.Args, " "), pattern, seen)
		}
	}
}

// end has it end by itself, in order.
func (r *running) end(t *testing.T, signal os.Signal) {
	t.Helper()
	must(t, r.cmd.Process.Signal(signal))
	io.Copy(io.Discard, r.lines)
	r.ended = true
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("%s ended: %v", strings.Join(r.cmd.Args, " "), err)
	}
}
