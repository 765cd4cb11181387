package lua

import (
	"runtime"
	"strings"
	"testing"
)

// What is too deep to be printed is refused once it is too deep, and not when all of it has been
// gone through: each beginning that is put before the others costs as much as there is of them.
func TestWhatIsTooDeepIsRefusedAtOnce(t *testing.T) {
	for _, text := range []string{
		"local a={} return a" + strings.Repeat(".len", 9000),
		"local a={} return a" + strings.Repeat("<a", 9000),
		"local a={} return a" + strings.Repeat(">=a", 9000),
		"local a,x={},1 return a" + strings.Repeat("[x]", 9000),
		"local a={} return a" + strings.Repeat(":f()", 4000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(text)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), tooDeep) {
			t.Errorf("%.40s… is %v", text, err)
		}
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 16<<20 {
			t.Errorf("%.40s… takes %d bytes to read", text, bytes)
		}
	}
}

// Chains as deep as they may be take little more than texts of as many tokens without any: what is
// put before a chain is put there once.
func TestDeepChainsTakeWhatTheirTokensDo(t *testing.T) {
	read := func(text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Read(text); err != nil {
			t.Fatalf("%.40s… is %v", text, err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	plain := read(strings.Repeat("a=1 ", 18_000/3))
	for _, chain := range []string{strings.Repeat(".len", 170), strings.Repeat("<a", 170), strings.Repeat(`:f()`, 85)} {
		if bytes := read("local a={} " + strings.Repeat("b=a"+chain+" ", 50)); bytes > plain+plain/2 {
			t.Errorf("%.40s… takes %d bytes to read, and as many tokens without it %d", chain, bytes, plain)
		}
	}
}

// BenchmarkTooDeep is a chain that is refused.
func BenchmarkTooDeep(b *testing.B) {
	text := "local a={} return a" + strings.Repeat(".len", 9000)
	for b.Loop() {
		Read(text)
	}
}
