package conf

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// completed is what bash offers for the last of these words.
func completed(t *testing.T, script string, words ...string) []string {
	t.Helper()
	cmd := exec.Command("bash", "--norc", "-c", `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _redlock_proxy; printf '%s\n' "${COMPREPLY[@]}"`, script)
	cmd.Args = append(cmd.Args, words...)
	cmd.Dir = filepath.Dir(script)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("bash: %v\n%s", err, out)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

func TestBashCompletesWhatStandsThere(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "completion")
	for path, text := range map[string]string{script: Completions("bash"), filepath.Join(dir, "a file.toml"): ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for words, want := range map[string]string{
		"redlock-proxy st":                     "status",
		"redlock-proxy --max-tt":               "--max-ttl",
		"redlock-proxy ":                       strings.Join(commandNames(), " "),
		"redlock-proxy --log-level w":          "warn",
		"redlock-proxy --log-level = w":        "warn",
		"redlock-proxy --tls-auth-clients =":   "yes no optional",
		"redlock-proxy --max-ttl 1":            "",
		"redlock-proxy bootstrap --no":         "--no-locks-held",
		"redlock-proxy check --no":             "",
		"redlock-proxy --listen :1 status --w": "--watch",
		"redlock-proxy completion ":            "bash zsh fish",
		"redlock-proxy check ":                 "",
		"redlock-proxy --config a":             "a file.toml",
		"redlock-proxy --config = a":           "a file.toml",
	} {
		got, fields := completed(t, script, strings.Split(words, " ")...), strings.Fields(want)
		if strings.Contains(words, "--config") {
			fields = []string{want}
		}
		slices.Sort(got)
		slices.Sort(fields)
		if strings.Join(got, "|") != strings.Join(fields, "|") {
			t.Errorf("%q: %q, want %q", words, got, fields)
		}
	}
}

// What other shells say of their script is asked where they are installed; what it tells of is
// looked at everywhere.
func TestEveryShellIsToldOfEveryWord(t *testing.T) {
	for _, shell := range Shells {
		script := Completions(shell)
		for _, c := range toldCommands() {
			if !strings.Contains(script, c.name) {
				t.Errorf("%s is not told of %s", shell, c.name)
			}
		}
		for i := range options {
			if !strings.Contains(script, options[i].name) {
				t.Errorf("%s is not told of %s", shell, options[i].name)
			}
		}
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		cmd := exec.Command(shell, "-n", "/dev/stdin")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s -n: %v\n%s", shell, err, out)
		}
	}
	for shell, want := range map[string]string{"": "is not a shell", "ksh": "write bash, zsh or fish"} {
		if text := wrong(t, nil, strings.Fields("completion "+shell)...); !strings.Contains(text, want) {
			t.Errorf("of %q it says %s", shell, text)
		}
	}
	if c := load(t, nil, "completion", "fish"); c.Command != Completion || c.Shell != "fish" {
		t.Errorf("%v %q", c.Command, c.Shell)
	}
}

func TestManualTellsOfEverything(t *testing.T) {
	page := Manual("1.2.3")
	for _, c := range toldCommands() {
		if !strings.Contains(page, "\n.TP\n\\fB"+roff(c.name)+"\\fR") {
			t.Errorf("it does not tell of %s", c.name)
		}
	}
	for i := range options {
		if o := &options[i]; !strings.Contains(page, "\n\\fB\\-\\-"+roff(o.name)+"\\fR") || !strings.Contains(page, "\n"+roff(helpOf(o))+"\n") {
			t.Errorf("it does not tell of --%s", o.name)
		}
	}
	for _, name := range []string{"help", "version"} {
		if !strings.Contains(page, "\n\\fB\\-\\-"+name+"\\fR\n") {
			t.Errorf("it does not tell of --%s", name)
		}
	}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, ".") && !slices.Contains([]string{".TH", ".SH", ".SS", ".TP", ".PP", ".RS", ".RE", ".nf", ".fi"}, strings.TrimSpace(line)[:3]) {
			t.Errorf("it has an order that it should not have: %s", line)
		}
	}
	if text, want := roff(".a\n'b -c \\d é…"), `\&.a`+"\n"+`\&'b \-c \ed \[u00E9]...`; text != want {
		t.Errorf("%q, want %q", text, want)
	}
	if _, err := exec.LookPath("groff"); err == nil {
		for _, terminal := range []string{"utf8", "ascii"} { // the latter by LC_ALL=C
			cmd := exec.Command("groff", "-man", "-T"+terminal, "-ww", "-z")
			cmd.Stdin = strings.NewReader(page)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("groff for %s: %v\n%s", terminal, err, out)
			}
		}
	}
}
