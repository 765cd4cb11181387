package integration

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport is, for each package of the program, what it may import besides
// the standard library. A name ending in "/..." allows the packages below it too.
var mayImport = map[string][]string{
	"redlock-proxy/quorum":          {},
	"redlock-proxy/quorum/clock":    {},
	"redlock-proxy/quorum/marker":   {"redlock-proxy/quorum"},
	"redlock-proxy/quorum/dump":     {},
	"redlock-proxy/quorum/messages": {"redlock-proxy/quorum"},
	"redlock-proxy/quorum/decide":   {"redlock-proxy/quorum", "redlock-proxy/quorum/clock", "redlock-proxy/quorum/dump"},
	"redlock-proxy/quorum/master": {"redlock-proxy/quorum", "redlock-proxy/quorum/clock", "redlock-proxy/quorum/marker", "redlock-proxy/quorum/decide",
		"github.com/redis/rueidis/..."},
	"redlock-proxy/quorum/catchup": {"redlock-proxy/quorum", "redlock-proxy/quorum/clock", "redlock-proxy/quorum/marker", "redlock-proxy/quorum/decide", "redlock-proxy/quorum/master",
		"github.com/redis/rueidis/..."},
	"redlock-proxy/quorum/maxhold": {"redlock-proxy/quorum", "redlock-proxy/quorum/clock"},
	"redlock-proxy/quorum/journal": {"redlock-proxy/quorum", "redlock-proxy/quorum/master"},
	"redlock-proxy/quorum/members": {"redlock-proxy/quorum", "redlock-proxy/quorum/clock", "redlock-proxy/quorum/marker", "redlock-proxy/quorum/master", "redlock-proxy/quorum/catchup"},
	"redlock-proxy/quorum/engine": {"redlock-proxy/quorum", "redlock-proxy/quorum/clock", "redlock-proxy/quorum/marker", "redlock-proxy/quorum/messages", "redlock-proxy/quorum/master", "redlock-proxy/quorum/decide", "redlock-proxy/quorum/dump", "redlock-proxy/quorum/catchup", "redlock-proxy/quorum/journal", "redlock-proxy/quorum/maxhold",
		"github.com/redis/rueidis/...", "github.com/hashicorp/go-hclog"},
	"redlock-proxy/quorum/model":       {},
	"redlock-proxy/commands":           {"redlock-proxy/quorum", "redlock-proxy/commands/lua", "redlock-proxy/commands/recognise"},
	"redlock-proxy/commands/lua":       {},
	"redlock-proxy/commands/recognise": {"redlock-proxy/quorum", "redlock-proxy/commands/lua"},
	"redlock-proxy/proxy": {"redlock-proxy/proxy/resp", "redlock-proxy/commands", "redlock-proxy/quorum",
		"github.com/hashicorp/go-hclog"},
	"redlock-proxy/proxy/resp": {"redlock-proxy/commands", "github.com/tidwall/redcon"},
	"redlock-proxy/conf":       {"github.com/alecthomas/kong", "github.com/BurntSushi/toml"},
	"redlock-proxy/cmd/redlock-proxy": {"redlock-proxy/proxy", "redlock-proxy/commands", "redlock-proxy/quorum", "redlock-proxy/quorum/engine", "redlock-proxy/quorum/master", "redlock-proxy/quorum/members",
		"redlock-proxy/conf", "github.com/hashicorp/go-hclog", "github.com/alicebob/miniredis/v2/..."},

	// For tests alone. The conversations' reader knows nothing of the program: the dialect's
	// tests hold them with a session, those of integration with servers.
	"redlock-proxy/integration/transcript": {},
	"redlock-proxy/integration":            {},
	// The benchmark runs a proxy inside itself where only the process knows.
	"redlock-proxy/integration/bench": {"redlock-proxy/integration", "redlock-proxy/proxy", "redlock-proxy/quorum/engine", "redlock-proxy/quorum/master", "redlock-proxy/quorum/members",
		"github.com/hashicorp/go-hclog"},
	// What the proxy is measured beside is made of what it is made of.
	"redlock-proxy/integration/bench/floor": {"github.com/redis/rueidis/...", "github.com/tidwall/redcon"},
	"redlock-proxy/integration/attack":      {"redlock-proxy/integration"},
	// The words of the figure are those of the program.
	"redlock-proxy/integration/figure":  {"redlock-proxy/quorum"},
	"redlock-proxy/integration/clients": {},
	"redlock-proxy/integration/clock":   {},
}

// mayNotImport is what some packages must leave alone of the standard library: what is decided is
// pure, and the dialect and the protocol do no I/O and live without a clock's help. Package clock
// alone reads the machine's.
var mayNotImport = map[string][]string{
	"redlock-proxy/quorum":             {"net", "os", "io", "bufio", "context", "syscall"},
	"redlock-proxy/quorum/clock":       {"net", "os", "io", "bufio"},
	"redlock-proxy/quorum/marker":      {"net", "os", "io", "bufio", "context", "syscall"},
	"redlock-proxy/quorum/decide":      {"net", "os", "io", "bufio", "context", "syscall"},
	"redlock-proxy/quorum/dump":        {"net", "os", "io", "bufio", "context", "syscall", "time"},
	"redlock-proxy/quorum/maxhold":     {"net", "os", "io", "bufio", "context", "syscall"},
	"redlock-proxy/quorum/messages":    {"net", "os", "io", "bufio", "context", "syscall", "time"},
	"redlock-proxy/commands":           {"net", "os", "io", "bufio", "context"},
	"redlock-proxy/commands/lua":       {"net", "os", "io", "bufio", "context", "time"},
	"redlock-proxy/commands/recognise": {"net", "os", "io", "bufio", "context"},
	"redlock-proxy/proxy/resp":         {"net", "os", "io", "bufio", "context", "time"},
}

func TestPackagesImportOnlyWhatTheirRowAllows(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"linux", "darwin"} { // there are files for others than Linux
		t.Run(system, func(t *testing.T) { holdsTheTable(t, system) })
	}
}

func holdsTheTable(t *testing.T, system string) {
	list := exec.Command("go", "list", "-e", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "redlock-proxy/...") // -e: also of a cycle
	list.Env = append(os.Environ(), "GOOS="+system)
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg, imports := fields[0], fields[1:]
		allowed, ok := mayImport[pkg]
		if !ok {
			t.Errorf("%s has no row in the table of packages", pkg)
			continue
		}
		seen++
		for _, imp := range imports {
			if !isStandard(imp) && !allows(allowed, imp) {
				t.Errorf("%s imports %s, which its row does not allow", pkg, imp)
			}
			if slices.ContainsFunc(mayNotImport[pkg], func(not string) bool { return imp == not || strings.HasPrefix(imp, not+"/") }) {
				t.Errorf("%s imports %s, which it is to live without", pkg, imp)
			}
		}
	}
	if seen < 5 {
		t.Errorf("go list shows %d packages of the table, want at least the program's five", seen)
	}
}

// TestWhatIsDecidedKnowsNoClock: what votes amount to, and what a command means, does not hang on
// when it is asked, so that the same conversation always reads the same.
func TestWhatIsDecidedKnowsNoClock(t *testing.T) {
	t.Parallel()
	pure := []string{"commands", "commands/recognise", "quorum", "quorum/marker", "quorum/decide", "quorum/maxhold"}
	for i := range pure {
		pure[i] = "redlock-proxy/" + pure[i]
	}
	list := []string{"list", "-f", `{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`}
	out, err := exec.Command("go", append(list, pure...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	args := append([]string{"-nE", `\btime\.(Now|Since|Until|Sleep|After|AfterFunc|NewTimer|NewTicker|Tick)\b`}, strings.Fields(string(out))...)
	if found, err := exec.Command("grep", args...).Output(); err == nil {
		t.Errorf("the clock is read here:\n%s", found)
	} else if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 {
		t.Fatalf("grep: %v", err)
	}
}

// isStandard: the standard library's paths have no dot in their first part.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != "redlock-proxy" && !strings.Contains(first, ".")
}

func allows(allowed []string, path string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		parent, below := strings.CutSuffix(a, "/...")
		return path == parent || below && strings.HasPrefix(path, parent+"/")
	})
}
