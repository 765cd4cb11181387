package conf

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// The example file is what an operator starts from: it has every option once,
// in the order of the help, and its values are the defaults, whether they are
// left in comments or not.
func TestExampleFileHasEveryOptionAtItsDefault(t *testing.T) {
	b, err := os.ReadFile("redlock-proxy.toml")
	if err != nil {
		t.Fatal(err)
	}
	defaults := load(t, nil)
	if asIs := load(t, nil, "--config", write(t, "c.toml", string(b))); !sameOptions(asIs, defaults) {
		t.Errorf("the file as it is\n%+v, the defaults\n%+v", asIs.Options, defaults.Options)
	}

	commented := regexp.MustCompile(`(?m)^#([a-z][a-z-]*) = `)
	var names, want []string
	for _, m := range commented.FindAllStringSubmatch(string(b), -1) {
		names = append(names, m[1])
	}
	for i := range options {
		if options[i].name != "config" {
			want = append(want, options[i].name)
		}
	}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("options in the file\n%q, want\n%q", names, want)
	}

	full := load(t, nil, "--config", write(t, "c.toml", commented.ReplaceAllString(string(b), "$1 = ")))
	if !sameOptions(full, defaults) {
		t.Errorf("without the comment signs\n%+v, the defaults\n%+v", full.Options, defaults.Options)
	}
	if len(full.Warnings) != 0 {
		t.Errorf("warnings %q", full.Warnings)
	}
	if from := full.From["max-ttl"]; from.Source != File {
		t.Errorf("max-ttl is from %v", from)
	}
}

func TestReadmeNamesEveryOptionWithItsDefault(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for i := range options {
		row := "| `" + options[i].name + "` | "
		if d := options[i].def; d != "" {
			row += "`" + d + "` |"
		}
		if !strings.Contains(string(b), row) {
			t.Errorf("the README has no row %q", row)
		}
	}
}

func sameOptions(a, b *Config) bool {
	x, y := a.Options, b.Options
	x.Config, y.Config = "", ""
	return reflect.DeepEqual(x, y)
}

func TestExampleFileMarksWhatSIGHUPChanges(t *testing.T) {
	b, err := os.ReadFile("redlock-proxy.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(b), "\n\n") {
		m := regexp.MustCompile(`(?m)^#([a-z][a-z-]*) = `).FindStringSubmatch(part)
		if m == nil {
			continue
		}
		if o := lookup(m[1]); o.live != strings.Contains(part, "(SIGHUP)") {
			t.Errorf("%s: live is %v, but the file says\n%s", o.name, o.live, part)
		}
	}
}
