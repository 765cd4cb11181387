package quorum

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// colliding are n strings of a length whose hashes in Lua are the same: of each of a few blocks
// there are two that lead from one hash to another one.
func colliding(n, length int) []string {
	random := rand.New(rand.NewPCG(1, 2))
	hash := uint32(length)
	all := []string{""}
	for len(all) < n {
		seen := make(map[uint32]string)
		for {
			block := fmt.Sprintf("%06x", random.Uint32N(1<<24))
			h := hash
			for i := len(block) - 1; i >= 0; i-- {
				h ^= h<<5 + h>>2 + uint32(block[i])
			}
			if other, there := seen[h]; there && other != block {
				hash = h
				var longer []string
				for _, s := range all {
					longer = append(longer, block+s, other+s)
				}
				all = longer
				break
			}
			seen[h] = block
		}
	}
	all = all[:n]
	for i, s := range all {
		all[i] = strings.Repeat("a", length-len(s)) + s
	}
	return all
}

func TestLuaHashIsThatOfRedis(t *testing.T) {
	all := colliding(64, 100)
	for _, s := range all {
		if luaHash(s) != luaHash(all[0]) {
			t.Fatalf("%q and %q do not collide", s, all[0])
		}
	}
	// By hand: 1^(1<<5+1>>2+'a'), and from there.
	if got := luaHash("a"); got != 1^(32+0+97) {
		t.Errorf("a: %d", got)
	}
}

// TestArgumentsThatCollideAreABurden, and those that only are many or long are none, nor are the names
// that programs count up.
func TestArgumentsThatCollideAreABurden(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	texts := func(n int, text func(i int) string) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = text(i)
		}
		return all
	}
	long := func(i int) string {
		return strings.Repeat("a", 3984) + fmt.Sprintf("%016x", random.Uint64())
	}
	some := colliding(100, 4000)
	const heavy = internedLittle
	for name, test := range map[string]struct {
		args        []string
		least, most int
	}{
		"few that are short":                        {colliding(10, 60), 0, 0},
		"few that are long":                         {colliding(32, 100_000), 0, 0},
		"some that are long":                        {colliding(60, 1000), 0, 0},
		"many that are long":                        {colliding(1000, 4000), 100 * heavy, 1000 * heavy},
		"many that are short":                       {colliding(4000, 100), 100 * heavy, 1000 * heavy},
		"many long ones by chance":                  {texts(1000, long), 0, heavy - 1},
		"very many by chance":                       {texts(4000, func(int) string { return fmt.Sprintf("%016x", random.Uint64()) }), 0, heavy - 1},
		"very many that are counted":                {texts(4000, func(i int) string { return fmt.Sprintf("user:%d:name", i) }), 0, heavy - 1},
		"many long ones that are counted":           {texts(1000, func(i int) string { return strings.Repeat("x", 3000) + fmt.Sprint(i) }), 0, heavy - 1},
		"the same, many times":                      {texts(4000, func(int) string { return strings.Repeat("x", 1000) }), 0, 0},
		"two, many times":                           {texts(4000, func(i int) string { return fmt.Sprint(i % 2) }), 0, heavy - 1},
		"some that collide, one of them many times": {append(some, texts(3000, func(int) string { return some[0] })...), 100 * heavy, 1000 * heavy},
		"of as many lengths":                        {texts(1000, func(i int) string { return strings.Repeat("x", 1000+i) }), 0, heavy - 1},
	} {
		for _, r := range []Request{{Kind: Run, Args: test.args}, {Kind: Run, Keys: test.args}} {
			if got := r.Interning(); got < test.least || got > test.most {
				t.Errorf("%s: %d, want between %d and %d", name, got, test.least, test.most)
			}
		}
	}
}
