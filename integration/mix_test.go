package integration

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

var (
	mixed     = flag.Int("mixed", 150, "how many scripts are mixed of those that are known, and tried on masters")
	mixedSeed = flag.Uint64("mixed-seed", 1, "what they begin with")
)

// material is what scripts are mixed of: those of lock libraries, and attacks.
func material(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../commands/testdata/scripts/*.lua")
	must(t, err)
	texts := attacks(t)
	for _, file := range files {
		b, err := os.ReadFile(file)
		must(t, err)
		if text := string(b); !strings.HasPrefix(text, "#!") {
			texts = append(texts, text)
		}
	}
	return texts
}

func TestStatementsOfScriptsAreTakenApartAndPutTogether(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"local a = 1 a = 2; f(a) return a": {"local a = 1", "a = 2", "f ( a )", "return a"},
		"if a then b() else c() end for i = 1, 2 do x = i end while a do break end do d() end":                   {"if a then b ( ) else c ( ) end", "for i = 1 , 2 do x = i end", "while a do break end", "do d ( ) end"},
		"local f = function(x) return x end function g() end a = {1; 2} -- x\n--[[ y\n]] b = 'it\\'s' c = [[z]]": {"local f = function ( x ) return x end", "function g ( ) end", "a = { 1 ; 2 }", "b = 'it\\'s'", "c = [[z]]"},
		"repeat a = 1 until a b.c.d = 1e9 .. a":                                                                  {"repeat a = 1 until a", "b . c . d = 1e9 .. a"},
	} {
		var got []string
		for _, words := range luaStatements(luaWords(text)) {
			got = append(got, strings.Join(words, " "))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nis %q\nwant %q", text, got, want)
		}
	}
}

// What such a script answers may hang on the clock, or on where a master's memory is.
var notTwiceTheSame = regexp.MustCompile(`(?i)time|ttl|random|expire|px|ex\b`)

// TestScriptsThatAreMixedDoNoMore mixes scripts of those that are known, and judges by what is
// on the masters, and by the processor time that one takes. Asked for seldom and often, a
// script answers the same.
func TestScriptsThatAreMixedDoNoMore(t *testing.T) {
	t.Parallel()
	w := startWall(t)
	m := NewMixer(*mixedSeed, material(t))
	ran := 0
	for n := range *mixed {
		text := m.Script()
		first := w.run(text)
		if refused := fmt.Sprint(first); strings.HasPrefix(refused, "ERR Error compiling") || strings.Contains(refused, "not for lock scripts script:") {
			continue
		}
		ran++
		last := first
		for range 4 {
			last = w.run(text)
		}
		if !notTwiceTheSame.MatchString(text) && !reflect.DeepEqual(first, last) {
			t.Errorf("seldom, it is answered %.300v, and often %.300v: %.2000q", first, last, text)
		}
		if n%500 == 499 || n == *mixed-1 {
			w.check()
		}
		if t.Failed() {
			t.Fatalf("again: go test ./integration -run '^%s$' -mixed-seed %d -mixed %d", t.Name(), *mixedSeed, n+1)
		}
	}
	if ran < *mixed/4 {
		t.Errorf("%d of %d scripts ran", ran, *mixed)
	}
	t.Logf("%d of %d scripts ran", ran, *mixed)
}
