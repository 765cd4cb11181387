package conf

import (
	"os"
	"reflect"
	"regexp"
	"testing"
)

// The example file is what an operator starts from: its values are the defaults,
// whether they are left in comments or not.
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

func sameOptions(a, b *Config) bool {
	x, y := a.Options, b.Options
	x.Config, y.Config = "", ""
	return reflect.DeepEqual(x, y)
}
