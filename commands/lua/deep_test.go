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
