package master

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func bulk(s string) string     { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }
func integer(n int64) string   { return fmt.Sprintf(":%d\r\n", n) }
func array(s ...string) string { return fmt.Sprintf("*%d\r\n%s", len(s), strings.Join(s, "")) }

// seeded is a source of chance, of which a failure tells the seed.
func seeded(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the seed was %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}
