package clock

import (
	"math"
	"testing"
)

func TestTTLThatIsFarIsGivenAsItIs(t *testing.T) {
	years := int64(LongestTTL / ms)
	for asked, want := range map[int64]int64{
		0: 0, -5: 0, 1000: 0, years: 0,
		years + 1:        leastFar,
		leastFar + 1:     leastFar + 1,
		9223372036854775: 9223372036854775,
		math.MaxInt64:    Farthest,
	} {
		if got := Far(asked); got != want {
			t.Errorf("of %d masters are told %d, want %d", asked, got, want)
		}
	}
	if padded := Milliseconds(Pad(LongestTTL)); padded >= FarFrom {
		t.Errorf("what is not far comes to %d ms", padded)
	}
}
