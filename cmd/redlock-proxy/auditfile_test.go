package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func openAuditAt(t *testing.T, path string) *auditFile {
	t.Helper()
	a, err := openAuditFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	return a
}

func (a *auditFile) mustWrite(t *testing.T, line string) {
	t.Helper()
	if _, err := a.Write([]byte(line)); err != nil {
		t.Fatal(err)
	}
	if err := a.Settle(); err != nil {
		t.Fatal(err)
	}
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if b, err := os.ReadFile(path); err != nil || string(b) != want {
		t.Errorf("%s holds %q (%v), want %q", path, b, err, want)
	}
}

func TestAuditFileIsItsOwnersAndAppendedTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	openAuditAt(t, path).mustWrite(t, "a\n")
	openAuditAt(t, path).mustWrite(t, "b\n")
	wantText(t, path, "a\nb\n")
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestAuditFileIsARegularOne(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/dev/null", pipe, t.TempDir(), filepath.Join(t.TempDir(), "none", "audit")} {
		if a, err := openAuditFile(path); err == nil {
			a.close()
			t.Errorf("%s is taken", path)
		}
	}
}

func TestAuditFileThatIsMovedAwayIsFollowedByAnother(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "audit")
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	a := openAuditAt(t, path)
	a.mustWrite(t, "a\n")
	rename(path, path+".1")
	a.mustWrite(t, "b\n")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	a.mustWrite(t, "c\n")
	wantText(t, path+".1", "a\n")
	wantText(t, path, "c\n")
	rename(filepath.Dir(path), filepath.Join(dir, "other"))
	if _, err := a.Write([]byte("d\n")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is written where nobody looks: %v", err)
	}
	if err := a.Settle(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	rename(filepath.Join(dir, "other"), filepath.Dir(path))
	a.mustWrite(t, "d\n")
	wantText(t, path, "c\nd\n")
}

func TestFileThatIsMovedAwayIsSettledBefore(t *testing.T) {
	a := openAuditAt(t, filepath.Join(t.TempDir(), "audit"))
	a.close()
	r, w, err := os.Pipe() // which cannot be
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a.file = w
	if _, err := a.Write([]byte("a\n")); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("the end of the old one: %v", err)
	}
	a.mustWrite(t, "a\n")
	wantText(t, a.path, "a\n")
}

func TestPartOfALineIsTakenBackOrEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	a := openAuditAt(t, path)
	a.mustWrite(t, "first\n")
	half := func() {
		t.Helper()
		if _, err := a.file.WriteString("sec"); err != nil { // all that the disk had room for
			t.Fatal(err)
		}
	}
	half()
	a.takeBack(3)
	wantText(t, path, "first\n")
	a.mustWrite(t, "second\n")
	wantText(t, path, "first\nsecond\n")

	half()
	other := openAuditAt(t, path) // finds that, as after a crash
	other.mustWrite(t, "of another\n")
	a.takeBack(3)
	a.mustWrite(t, "third\n")
	wantText(t, path, "first\nsecond\nsec\nof another\n\nthird\n")
}

// shortPipe takes a few bytes and then fails.
type shortPipe struct {
	bytes.Buffer
	room int
}

func (p *shortPipe) Write(b []byte) (int, error) {
	n := min(p.room, len(b))
	p.room -= n
	p.Buffer.Write(b[:n])
	if n < len(b) {
		return n, errors.New("nobody reads")
	}
	return n, nil
}

func TestPartOfALineOnAPipeIsEnded(t *testing.T) {
	p := &shortPipe{room: 3}
	a := &auditStream{to: p}
	if _, err := a.Write([]byte("first\n")); err == nil {
		t.Error("all of it was taken")
	}
	p.room = 100
	if _, err := a.Write([]byte("first\n")); err != nil || p.String() != "fir\nfirst\n" {
		t.Errorf("%v, %q", err, p)
	}
}

func TestAuditLogThatCannotBeOpenedEndsTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "audit")
	_, stderr, code := runProgram(t, nil, "--listen", "127.0.0.1:0", "--audit-log", path)
	if code != exitFailed || !strings.Contains(stderr, "cannot start") || !strings.Contains(stderr, path) {
		t.Errorf("%d, %s", code, stderr)
	}
}

func TestAuditLogMayBeStandardOutput(t *testing.T) {
	var stdout bytes.Buffer
	p := startProgramTo(t, &stdout, "--listen", "127.0.0.1:0", "--audit-log", "stdout")
	p.await("every master has been tried")
	p.signal(syscall.SIGTERM)
	if code := p.exitCode(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"event":"start"`) || !strings.Contains(lines[1], `"event":"stop"`) || !strings.Contains(lines[1], "terminated") {
		t.Errorf("%q", lines)
	}
}
