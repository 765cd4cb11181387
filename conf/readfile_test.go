package conf

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Somebody may name a device, a pipe or a log by mistake.
func TestFilesThatAreNoneOrTooLongAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	long := write(t, "long", strings.Repeat("# a comment\n", maxFile/10))
	cert, key := validCertificate(t)
	tls := []string{"--tls-listen", "127.0.0.1:0", "--tls-auth-clients", "no"}
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"--config", "/dev/zero"}, "config: /dev/zero is no regular file"},
		{[]string{"--config", pipe}, "config: " + pipe + " is no regular file"},
		{[]string{"--config", dir}, "config: " + dir + " is a directory"},
		{[]string{"--config", long}, "config: " + long + " is longer than 4194304 bytes"},
		{[]string{"--config", dir + "/none"}, "config: open " + dir + "/none: no such file or directory"},
		{[]string{"--requirepass-file", "/dev/zero"}, "--requirepass-file: /dev/zero is no regular file"},
		{[]string{"--requirepass-file", long}, "--requirepass-file: " + long + " is longer than 4096 bytes"},
		{append(tls, "--tls-cert-file", "/dev/zero", "--tls-key-file", key), "--tls-cert-file: /dev/zero is no regular file"},
		{append(tls, "--tls-cert-file", cert, "--tls-key-file", long), "--tls-key-file: " + long + " is longer than 4194304 bytes"},
		{append(tls, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", pipe), "--tls-ca-cert-file: " + pipe + " is no regular file"},
	} {
		_, err := Load(row.args, nil)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q: %v, want %q", row.args, err, row.want)
		}
	}
}

func TestFilesThatEverybodyCanReadAreWarnedOf(t *testing.T) {
	cert, key := validCertificate(t)
	password, file := write(t, "p", "secret"), write(t, "c.toml", "")
	for _, row := range []struct {
		text, path string
		args       []string
		want       string
	}{
		{"", password, []string{"--requirepass-file", password}, "requirepass-file: everybody on this machine can read " + password + ", which holds a password; chmod o-r it"},
		{"", password, []string{"--master", "a:1,b:1,c:1", "--master-password-file", password}, "master-password-file: everybody on this machine can read " + password},
		{"", key, []string{"--tls-listen", "127.0.0.1:0", "--tls-auth-clients", "no", "--tls-cert-file", cert, "--tls-key-file", key}, "tls-key-file: everybody on this machine can read " + key + ", which holds a private key"},
		{"requirepass = \"secret\"", file, nil, "config: everybody on this machine can read " + file + ", which holds a password"},
		{"master = [\"redis://:secret@a:1\", \"b:1\", \"c:1\"]", file, nil, "config: everybody on this machine can read " + file},
		{"max-clients = 7", file, nil, ""},
	} {
		if err := os.WriteFile(file, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		args := append(row.args, "--config", file)
		for _, shown := range []bool{false, true} {
			mode := os.FileMode(0o640)
			if shown {
				mode = 0o644
			}
			if err := os.Chmod(row.path, mode); err != nil {
				t.Fatal(err)
			}
			warnings := strings.Join(load(t, nil, args...).Warnings, "\n")
			if shown && row.want != "" {
				if !strings.Contains(warnings, row.want) {
					t.Errorf("%q: warnings %q, want %q", args, warnings, row.want)
				}
			} else if warnings != "" {
				t.Errorf("%q with mode %o: warnings %q", args, mode, warnings)
			}
		}
		if err := os.Chmod(row.path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReloadNoticesWhatFilesHold(t *testing.T) {
	cert, key := validCertificate(t)
	other, otherKey := validCertificate(t)
	password := write(t, "p", "one")
	args := []string{"--tls-listen", "127.0.0.1:0", "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--requirepass-file", password}
	running := load(t, nil, args...)
	if _, live, _, err := Reload(running, load(t, nil, args...)); err != nil || len(live) != 0 {
		t.Errorf("live %q, %v, and nothing has changed", live, err)
	}
	for from, to := range map[string]string{other: cert, otherKey: key} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	next := load(t, nil, args...)
	merged, live, restart, err := Reload(running, next)
	if want := "tls-cert-file tls-key-file tls-ca-cert-file"; err != nil || strings.Join(live, " ") != want || len(restart) != 0 {
		t.Errorf("live %q, restart %q, %v, want %s", live, restart, err, want)
	}
	if _, live, _, err := Reload(merged, next); err != nil || len(live) != 0 {
		t.Errorf("live %q again, %v", live, err)
	}
}
