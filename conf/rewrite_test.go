package conf

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// written is what CONFIG REWRITE makes of a file, after these settings.
func written(t *testing.T, file string, words ...string) (string, []string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	c := load(t, []string{"REDLOCK_PROXY_LATENCY_MONITOR_THRESHOLD=7"}, "--config", path, "--slowlog-max-len", "3")
	next, err := setAll(c, words...)
	if err != nil {
		t.Fatal(err)
	}
	rewritten, outranked, err := next.Rewrite()
	b, readErr := os.ReadFile(path)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if err == nil {
		for i := 0; i < len(words); i += 2 {
			if from := rewritten.From[words[i]]; from.Source != File {
				t.Errorf("when it is written %s is from %v", words[i], from)
			}
		}
		if _, again, err := rewritten.Rewrite(); err != nil || again != nil {
			t.Errorf("written again: %q, %v", again, err)
		}
	}
	if rest, err := os.ReadDir(filepath.Dir(path)); err != nil || len(rest) != 1 {
		t.Errorf("beside the file there are %v, %v", rest, err)
	}
	return string(b), outranked, err
}

func TestRewriteKeepsWhatIsNotSet(t *testing.T) {
	for name, row := range map[string]struct {
		file  string
		words []string
		want  string
	}{
		"a value and its comment": {
			"# mine\nlog-level = \"info\" # loud\nmax-ttl='1m'\n", []string{"log-level", "debug"},
			"# mine\nlog-level = \"debug\" # loud\nmax-ttl='1m'\n"},
		"a number, and quotes around a name": {
			"  \"slowlog-log-slower-than\"=5\r\nmax-ttl = \"1m\"", []string{"slowlog-log-slower-than", "-1"},
			"  slowlog-log-slower-than = -1\r\nmax-ttl = \"1m\""},
		"behind its default": {
			"# The least severe lines.\n#log-level = \"info\"\n\n# ---- \n", []string{"log-level", "warn"},
			"# The least severe lines.\n#log-level = \"info\"\nlog-level = \"warn\"\n\n# ---- \n"},
		"at the end": {
			"max-ttl = \"1m\"", []string{"log-level", "warn", "slowlog-log-slower-than", "9"},
			"max-ttl = \"1m\"\n# Written by CONFIG REWRITE.\nlog-level = \"warn\"\nslowlog-log-slower-than = 9\n"},
		"where there is nothing": {"", []string{"log-level", "warn"}, "# Written by CONFIG REWRITE.\nlog-level = \"warn\"\n"},
		"a hash in a text": {
			"requirepass = \"a # \\\" b\" # c\n", []string{"requirepass", "x\"#\n\\é"},
			"requirepass = \"x\\\"#\\n\\\\é\" # c\n"},
		"the same value": {"log-level='info'\n", []string{"log-level", "info"}, "log-level = \"info\"\n"},
	} {
		got, outranked, err := written(t, row.file, row.words...)
		if got != row.want || err != nil || outranked != nil {
			t.Errorf("%s: %q, %q, %v; want %q", name, got, outranked, err, row.want)
		}
	}
}

func TestRewriteLeavesAFileAloneThatItDoesNotUnderstand(t *testing.T) {
	for _, file := range []string{
		"log-level = \"\"\"info\"\"\"\n",
		"redis-version = \"\"\"7.2.0\"\"\"\n\"log\\u002dlevel\" = \"info\"\n",
	} {
		got, _, err := written(t, file, "log-level", "debug")
		if got != file || err == nil || !strings.Contains(err.Error(), "log-level stands in the file in a way that it cannot be changed in") {
			t.Errorf("%q becomes %q, %v", file, got, err)
		}
	}
}

func TestRewriteNamesWhatCountsBeforeTheFile(t *testing.T) {
	got, outranked, err := written(t, "", "slowlog-max-len", "4", "latency-monitor-threshold", "8", "log-level", "warn")
	if want := []string{"--slowlog-max-len", "REDLOCK_PROXY_LATENCY_MONITOR_THRESHOLD"}; !reflect.DeepEqual(outranked, want) || err != nil {
		t.Errorf("%q, %v; want %q", outranked, err, want)
	}
	if !strings.HasSuffix(got, "\nslowlog-max-len = 4\nlatency-monitor-threshold = 8\n") {
		t.Errorf("written is %q", got)
	}
}

func TestRewriteKeepsModeOwnerAndLink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "real"), filepath.Join(dir, "c.toml")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o640), os.Symlink("real", link)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // who else may give a file away
		if err := os.Chown(path, 1234, 5678); err != nil {
			t.Fatal(err)
		}
	}
	owner := func(info os.FileInfo) [2]uint32 {
		s := info.Sys().(*syscall.Stat_t)
		return [2]uint32{s.Uid, s.Gid}
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	next, err := setAll(load(t, nil, "--config", link), "log-level", "debug")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := next.Rewrite(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o640 || owner(info) != owner(before) || os.SameFile(before, info) {
		t.Errorf("the file is %v of %v, %v", info, owner(info), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link is %v, %v", info, err)
	}
	if c := load(t, nil, "--config", link); c.LogLevel != "debug" {
		t.Errorf("read again it says %s", c.LogLevel)
	}
}

func TestRewriteWarnsOfAPasswordThatEverybodyCanRead(t *testing.T) {
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o644: true} {
		path := filepath.Join(t.TempDir(), "c.toml")
		if err := errors.Join(os.WriteFile(path, nil, mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		next, err := setAll(load(t, nil, "--config", path), "requirepass", "hunter2")
		if err != nil {
			t.Fatal(err)
		}
		next, _, err = next.Rewrite()
		if err != nil || (len(next.Warnings) == 1 && strings.Contains(next.Warnings[0], "everybody on this machine can read")) != warned {
			t.Errorf("mode %o: warnings %q, %v", mode, next.Warnings, err)
		}
	}
}

func TestRewriteNeedsAFile(t *testing.T) {
	if _, _, err := load(t, nil).Rewrite(); err != ErrNoFile {
		t.Errorf("without a file: %v", err)
	}
	path := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	next, err := setAll(load(t, nil, "--config", path), "log-level", "debug")
	if err != nil {
		t.Fatal(err)
	}
	for _, spoilt := range []string{"nonsense", "max-ttl = 5\n"} {
		if err := os.WriteFile(path, []byte(spoilt), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := next.Rewrite(); err == nil || !strings.Contains(err.Error(), "the file is not right as it is") {
			t.Errorf("where it holds %q: %v", spoilt, err)
		}
	}
	os.Remove(path)
	if _, _, err := next.Rewrite(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("where it is gone: %v", err)
	}
}
