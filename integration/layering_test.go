package integration

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
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
	"redlock-proxy/quorum/registry": {"redlock-proxy/quorum", "github.com/cespare/xxhash/v2"},
	"redlock-proxy/quorum/decide":   {"redlock-proxy/quorum", "redlock-proxy/quorum/clock", "redlock-proxy/quorum/dump", "redlock-proxy/quorum/registry"},
	"redlock-proxy/quorum/master": {"redlock-proxy/quorum", "redlock-proxy/quorum/clock", "redlock-proxy/quorum/marker", "redlock-proxy/quorum/decide", "redlock-proxy/quorum/netpoll",
		"github.com/redis/rueidis/..."},
	"redlock-proxy/quorum/catchup": {"redlock-proxy/quorum", "redlock-proxy/quorum/clock", "redlock-proxy/quorum/marker", "redlock-proxy/quorum/decide", "redlock-proxy/quorum/dump", "redlock-proxy/quorum/master",
		"github.com/redis/rueidis/..."},
	"redlock-proxy/quorum/netpoll": {"golang.org/x/sys/unix"},
	"redlock-proxy/quorum/maxhold": {"redlock-proxy/quorum", "redlock-proxy/quorum/clock"},
	"redlock-proxy/quorum/journal": {"redlock-proxy/quorum", "redlock-proxy/quorum/master"},
	"redlock-proxy/quorum/doctor":  {"redlock-proxy/quorum", "redlock-proxy/quorum/clock", "redlock-proxy/quorum/marker", "redlock-proxy/quorum/messages"},
	"redlock-proxy/quorum/members": {"redlock-proxy/quorum", "redlock-proxy/quorum/clock", "redlock-proxy/quorum/marker", "redlock-proxy/quorum/decide", "redlock-proxy/quorum/master", "redlock-proxy/quorum/catchup", "redlock-proxy/quorum/doctor"},
	"redlock-proxy/quorum/engine": {"redlock-proxy/quorum", "redlock-proxy/quorum/clock", "redlock-proxy/quorum/marker", "redlock-proxy/quorum/messages", "redlock-proxy/quorum/master", "redlock-proxy/quorum/decide", "redlock-proxy/quorum/dump", "redlock-proxy/quorum/catchup", "redlock-proxy/quorum/journal", "redlock-proxy/quorum/maxhold",
		"github.com/redis/rueidis/...", "github.com/hashicorp/go-hclog"},
	"redlock-proxy/quorum/model":       {},
	"redlock-proxy/commands":           {"redlock-proxy/quorum", "redlock-proxy/quorum/registry", "redlock-proxy/commands/acl", "redlock-proxy/commands/glob", "redlock-proxy/commands/lua", "redlock-proxy/commands/quota", "redlock-proxy/commands/recognise"},
	"redlock-proxy/commands/acl":       {"redlock-proxy/commands/glob", "redlock-proxy/commands/quota"},
	"redlock-proxy/commands/glob":      {},
	"redlock-proxy/commands/quota":     {},
	"redlock-proxy/commands/lua":       {},
	"redlock-proxy/commands/recognise": {"redlock-proxy/quorum", "redlock-proxy/commands/lua"},
	"redlock-proxy/proxy": {"redlock-proxy/proxy/resp", "redlock-proxy/proxy/audit", "redlock-proxy/commands", "redlock-proxy/commands/acl", "redlock-proxy/commands/glob", "redlock-proxy/quorum", "redlock-proxy/quorum/netpoll", "redlock-proxy/quorum/registry",
		"github.com/hashicorp/go-hclog", "golang.org/x/sys/unix"},
	"redlock-proxy/proxy/resp":  {"redlock-proxy/commands", "github.com/tidwall/redcon"},
	"redlock-proxy/proxy/audit": {"github.com/hashicorp/go-hclog"},
	"redlock-proxy/proxy/page":  {"redlock-proxy/quorum", "github.com/hashicorp/go-hclog"},
	"redlock-proxy/proxy/trace": {"redlock-proxy/proxy", "redlock-proxy/quorum",
		"github.com/hashicorp/go-hclog", "github.com/go-logr/logr/funcr", "go.opentelemetry.io/otel/...", "go.opentelemetry.io/proto/otlp/trace/v1", "google.golang.org/protobuf/proto"},
	"redlock-proxy/proxy/admin": {"redlock-proxy/proxy", "redlock-proxy/commands/acl", "redlock-proxy/quorum",
		"github.com/hashicorp/go-hclog", "github.com/prometheus/client_golang/prometheus/..."},
	"redlock-proxy/conf": {"github.com/alecthomas/kong", "github.com/BurntSushi/toml"},
	"redlock-proxy/cmd/redlock-proxy": {"redlock-proxy/proxy", "redlock-proxy/proxy/admin", "redlock-proxy/proxy/audit", "redlock-proxy/proxy/page", "redlock-proxy/proxy/trace", "redlock-proxy/commands", "redlock-proxy/quorum", "redlock-proxy/quorum/registry", "redlock-proxy/quorum/engine", "redlock-proxy/quorum/master", "redlock-proxy/quorum/doctor", "redlock-proxy/quorum/members",
		"redlock-proxy/quorum/clock", "redlock-proxy/conf", "github.com/hashicorp/go-hclog", "github.com/alicebob/miniredis/v2/...",
		"github.com/coreos/go-systemd/v22/activation", "golang.org/x/sys/unix"},

	// For tests alone. The conversations' reader knows nothing of the program: the dialect's
	// tests hold them with a session, those of integration with servers.
	"redlock-proxy/integration/transcript": {},
	"redlock-proxy/integration":            {},
	// The benchmark runs a proxy inside itself where only the process knows.
	"redlock-proxy/integration/bench": {"redlock-proxy/integration", "redlock-proxy/proxy", "redlock-proxy/quorum/engine", "redlock-proxy/quorum/master", "redlock-proxy/quorum/members",
		"github.com/hashicorp/go-hclog"},
	// What the proxy is measured beside is made of nothing.
	"redlock-proxy/integration/bench/floor": {},
	"redlock-proxy/integration/attack":      {"redlock-proxy/integration"},
	// The words of the figure are those of the program.
	"redlock-proxy/integration/figure":  {"redlock-proxy/quorum"},
	"redlock-proxy/integration/clients": {},
	"redlock-proxy/integration/clock":   {},
}

// pure may import none of these of the standard library, nor anything below them: what is decided
// is pure, and the dialect and the protocol do no I/O.
var pure = []string{"net", "os", "io", "bufio", "context", "syscall", "log", "runtime/cgo", "plugin", "C"}

// mayNotImport is what some packages must leave alone of the standard library. The dialect and the
// protocol live without a clock's help, too, and package clock alone reads the machine's. Package
// master is the only door to masters, and proxy to clients.
var mayNotImport = map[string][]string{
	"redlock-proxy/quorum":             pure,
	"redlock-proxy/quorum/clock":       {"net", "os", "io", "bufio", "log", "C"}, // sleeps, and asks the system
	"redlock-proxy/quorum/marker":      pure,
	"redlock-proxy/quorum/decide":      pure,
	"redlock-proxy/quorum/dump":        append([]string{"time"}, pure...),
	"redlock-proxy/quorum/maxhold":     pure,
	"redlock-proxy/quorum/messages":    append([]string{"time"}, pure...),
	"redlock-proxy/quorum/registry":    pure,
	"redlock-proxy/quorum/catchup":     {"net", "log", "C"},
	"redlock-proxy/quorum/journal":     {"net", "log", "C"},
	"redlock-proxy/quorum/doctor":      pure,
	"redlock-proxy/quorum/members":     {"net", "log", "C"},
	"redlock-proxy/quorum/engine":      {"net", "log", "C"},
	"redlock-proxy/commands":           pure,
	"redlock-proxy/commands/lua":       append([]string{"time"}, pure...),
	"redlock-proxy/commands/recognise": pure,
	"redlock-proxy/commands/acl":       pure,
	"redlock-proxy/commands/glob":      pure,
	"redlock-proxy/commands/quota":     pure,
	"redlock-proxy/proxy/resp":         append([]string{"time"}, pure...),
}

func TestPackagesImportOnlyWhatTheirRowAllows(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"linux", "darwin"} { // there are files for others than Linux
		for _, tags := range []string{"", "race"} {
			t.Run(system+" "+tags, func(t *testing.T) { holdsTheTable(t, system, tags) })
		}
	}
}

func holdsTheTable(t *testing.T, system, tags string) {
	list := exec.Command("go", "list", "-e", "-tags", tags, "-f", `{{.ImportPath}} {{join .Imports " "}}`, "redlock-proxy/...") // -e: also of a cycle
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

// clocks are the names by which a clock is read, of the packages that have one. To reckon with
// times is no harm.
var clocks = map[string][]string{
	"time":                       {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
	"redlock-proxy/quorum/clock": {"BootTime", "Pause"},
}

// TestWhatIsDecidedKnowsNoClock: what votes amount to, and what a command means, does not hang on
// when it is asked, so that the same conversation always reads the same.
func TestWhatIsDecidedKnowsNoClock(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, pkg := range []string{"commands", "commands/acl", "commands/quota", "commands/recognise", "quorum", "quorum/marker", "quorum/decide", "quorum/doctor", "quorum/maxhold"} {
		files, err := filepath.Glob("../" + pkg + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				readsNoClock(t, file)
				looked++
			}
		}
	}
	if looked < 50 {
		t.Errorf("%d files were looked at, want those of the dialect and of what decides", looked)
	}
}

// readsNoClock wants a file to name no clock, whatever it calls the package.
func readsNoClock(t *testing.T, file string) {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	called := make(map[string][]string)
	for _, imp := range parsed.Imports {
		from, _ := strconv.Unquote(imp.Path.Value)
		name := path.Base(from)
		if imp.Name != nil {
			name = imp.Name.Name
		}
		if name == "." && clocks[from] != nil {
			t.Errorf("%s imports all of %s by no name", file, from)
		}
		called[name] = clocks[from]
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(called[x.Name], sel.Sel.Name) {
				t.Errorf("%v: the clock is read: %s.%s", fset.Position(sel.Pos()), x.Name, sel.Sel.Name)
			}
		}
		return true
	})
}

// isStandard: the standard library's paths have no dot in their first part.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != "redlock-proxy" && first != "C" && !strings.Contains(first, ".")
}

func allows(allowed []string, path string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		parent, below := strings.CutSuffix(a, "/...")
		return path == parent || below && strings.HasPrefix(path, parent+"/")
	})
}
