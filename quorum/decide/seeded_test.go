package decide

import (
	"math/rand/v2"
	"testing"
)

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
