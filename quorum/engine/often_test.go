package engine

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
	constant, chunk := formOf(s).runs()
	if constant != constantOf(quorum.DefaultBounds, false) || !strings.Contains(chunk, "return 'often'") {
		t.Fatalf("seldom, it is run as %.100q", chunk)
	}
	// Few within each minute are seldom, however long that goes on.
	for i := range 5 * (oftenCalls - 1) {
		formOf(s).again(start.Add(time.Duration(i/(oftenCalls-1)) * (oftenSpan + time.Second)))
	}
	if run, _ := formOf(s).runs(); run != constant {
		t.Error("what is asked for seldom has become a script of its own")
	}
	for range oftenCalls {
		formOf(s).again(start.Add(time.Hour))
	}
	if run, chunk := formOf(s).runs(); run == constant || chunk != "" || !strings.Contains(run.Text, "return 'often'") {
		t.Error("what is asked for often is none of its own")
	}
	if reads := s.ReadOnly(); reads != s.ReadOnly() {
		t.Error("what may not write is made at each call")
	} else if run, _ := formOf(reads).runs(); run != constantOf(quorum.DefaultBounds, true) || run == constant {
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
			formOf(s).again(time.Now())
		}
		if formOf(s).own.Load() != nil {
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
	if formOf(often("return 7")).own.Load() == nil {
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
