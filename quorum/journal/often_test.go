package journal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func printedScript(body string) *quorum.Script {
	return quorum.NewPrinted(quorum.Printed{Body: body, Bounds: quorum.DefaultBounds})
}

func TestScriptIsOneOfItsOwnOnceItIsAskedForOften(t *testing.T) {
	start := time.Now()
	s := printedScript("return 'often'")
	constant, chunk := FormOf(s).Runs()
	if constant != FormOf(s).Constant() || !strings.Contains(chunk, "return 'often'") {
		t.Fatalf("seldom, it is run as %.100q", chunk)
	}
	// Few within each minute are seldom, however long that goes on.
	for i := range 5 * (oftenCalls - 1) {
		FormOf(s).Called(start.Add(time.Duration(i/(oftenCalls-1)) * (oftenSpan + time.Second)))
	}
	if run, _ := FormOf(s).Runs(); run != constant {
		t.Error("what is asked for seldom has become a script of its own")
	}
	for range oftenCalls {
		FormOf(s).Called(start.Add(time.Hour))
	}
	if run, chunk := FormOf(s).Runs(); run == constant || chunk != "" || !strings.Contains(run.Text, "return 'often'") {
		t.Error("what is asked for often is none of its own")
	}
	if reads := s.ReadOnly(); reads != s.ReadOnly() {
		t.Error("what may not write is made at each call")
	} else if run, _ := FormOf(reads).Runs(); run != FormOf(reads).Constant() || run == constant {
		t.Error("what may not write shares a script with what may")
	}
}

func TestMastersKeepABoundedNumberOfScripts(t *testing.T) {
	keeping.mu.Lock()
	sums, bytes := keeping.sums, keeping.bytes
	keeping.sums, keeping.bytes = nil, 0
	keeping.mu.Unlock()
	defer func() {
		keeping.mu.Lock()
		keeping.sums, keeping.bytes = sums, bytes
		keeping.mu.Unlock()
	}()
	kept := 0
	often := func(body string) *quorum.Script {
		s := printedScript(body)
		for range oftenCalls {
			FormOf(s).Called(time.Now())
		}
		if FormOf(s).own.Load() != nil {
			kept++
		}
		return s
	}
	for i := range maxOften + 50 {
		often(fmt.Sprintf("return %d", i))
	}
	one := keeping.bytes / kept
	if want := min(maxOften, maxOftenBytes/one); kept > maxOften || keeping.bytes > maxOftenBytes || kept < want-1 {
		t.Errorf("%d scripts of %d bytes in all are kept, want about %d", kept, keeping.bytes, want)
	}
	// What they have already, though the proxy has forgotten it, is no more.
	if FormOf(often("return 7")).own.Load() == nil {
		t.Error("a script that the masters have is not used")
	}
}

// needs tells whether a section stands behind another, or is it.
func needs(name, other string) bool {
	return name == other || slices.ContainsFunc(helpers.sections[name].needs, func(need string) bool { return needs(need, other) })
}

// What a script names is there, under the name by which package lua prints it.
func TestHelpersStandOnWhatTheyNeed(t *testing.T) {
	for name, s := range helpers.sections {
		for _, need := range s.needs {
			if _, there := helpers.sections[need]; !there {
				t.Errorf("%s needs %s, which there is not", name, need)
			}
		}
		for other, o := range helpers.sections {
			if name == "strings" {
				break // it has all that stands in it
			}
			made := []string{other}
			if other == "counted" {
				made = []string{"held", "gone", "dead", "named"}
			} else if !strings.HasPrefix(o.text, "local function "+other) {
				continue
			}
			for _, word := range made {
				if regexp.MustCompile(`\b`+word+`\b`).MatchString(s.text) && !needs(name, other) {
					t.Errorf("%s does not say that it needs %s, where %s is from", name, other, word)
				}
			}
		}
		if strings.Contains(s.text, "h."+name+" = ") == (strings.HasPrefix(s.text, "local function ") || name == "bounds" || name == "counted" || name == "commands" || name == "strings") {
			t.Errorf("%s makes something else: %.60s", name, s.text)
		}
	}
	if lua := helpers.of([]string{"string_find", "string_find", "nosuch"}); strings.Count(lua, "h.string_find = ") != 1 || strings.Contains(lua, "nosuch") {
		t.Errorf("helpers are made twice, or of nothing: %s", lua)
	}
}
