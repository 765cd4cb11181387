package integration

import (
	"context"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The README's first block is run as whoever pastes it runs it, and prints what stands
// below it. Only the ports are others, for those may be somebody's.
func TestQuickStartOfTheDocumentIsTrue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	must(t, err)
	blocks := regexp.MustCompile("(?s)\n## Try it\n.*?\n```sh\n(.*?)```\n\n```\n(.*?)```\n").FindStringSubmatch(string(text))
	if blocks == nil {
		t.Fatal("README.md has no block to paste, with its output below")
	}
	script, want := blocks[1], blocks[2]
	free := make([]int, 4)
	for i := range free {
		free[i], err = FreePort()
		must(t, err)
	}
	slices.Sort(free) // as what is printed is, and the document's are
	var others []string
	at := make(map[string]string)
	for i, port := range []string{"6380", "16381", "16382", "16383"} {
		n := free[i]
		at[port] = net.JoinHostPort("127.0.0.1", strconv.Itoa(n))
		others = append(others, port, strconv.Itoa(n))
		if strings.Count(script, port) == 0 {
			t.Errorf("nothing listens on %s", port)
		}
		if port == "6380" {
			continue
		}
		t.Cleanup(func() { // where the script did not come to its end
			if c, err := Dial(at[port]); err == nil {
				_, _ = c.Do("SHUTDOWN", "NOSAVE")
				_ = c.Close()
			}
		})
	}
	script, want = strings.NewReplacer(others...).Replace(script), strings.NewReplacer(others...).Replace(want)
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // the proxy too
	cmd.Dir = ".."
	dir := t.TempDir()
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "REDLOCK_PROXY_LISTEN="+at["6380"],
		"FAKETTY=1", // redis-cli prints as it does on a terminal
		// A master that is slow, since the machine is busy, is there all the same.
		"REDLOCK_PROXY_ACQUIRE_TIMEOUT=3s", "REDLOCK_PROXY_MASTER_TIMEOUT=10s", "REDLOCK_PROXY_CONNECT_TIMEOUT=10s")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("it ends with %v", err)
	}
	if !printsAlike(string(out), want) {
		t.Errorf("it prints\n%s\nand README.md says\n%s", out, want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("it leaves %v behind, %v", left, err)
	}
}

// printsAlike leaves alone what differs from time to time: the number of an installation,
// and what else the log tells of a master where the machine is busy.
func printsAlike(got, want string) bool {
	var lines [2][]string
	for i, text := range []string{got, want} {
		text = regexp.MustCompile(`installation [0-9a-f]{16}`).ReplaceAllString(text, "installation")
		lines[i] = strings.Split(text, "\n")
	}
	for _, line := range lines[0] {
		switch {
		case len(lines[1]) > 0 && line == lines[1][0]:
			lines[1] = lines[1][1:]
		case !strings.HasPrefix(line, "master "):
			return false
		}
	}
	return len(lines[1]) == 0
}
