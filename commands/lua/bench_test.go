package lua

import (
	"strings"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	const release = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
	for name, text := range map[string]string{
		"release": release,
		"longest": "local a " + strings.Repeat("a = a .. a ", 3999),
		"nested":  "local a " + strings.Repeat("function a() ", 85) + strings.Repeat("a() ", 4900) + strings.Repeat("end ", 85),
		"chained": "local a " + strings.Repeat("a = a"+strings.Repeat(".sub", 178)+" ", 55),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Read(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
