package commands

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestKeySetHoldsEachKeyOnceInOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int{1, fewKeys, 10 * fewKeys} {
		var s keySet
		var plain []string
		for range 4 * most {
			key := fmt.Sprint(rnd.IntN(most))
			if s.has(key) != slices.Contains(plain, key) {
				t.Fatalf("of %d: has %q is %t", len(plain), key, s.has(key))
			}
			if s.add(key); !slices.Contains(plain, key) {
				plain = append(plain, key)
			}
			if !slices.Equal(s.list, plain) {
				t.Fatalf("%q, want %q", s.list, plain)
			}
		}
	}
}

// Others wait while the keys of a transaction, or those that are watched, are told from each
// other. To compare each with all before takes several times as long as is allowed here.
func TestKeysAreToldFromEachOtherInTime(t *testing.T) {
	keys := make([]string, 8000)
	for i := range keys {
		keys[i] = strings.Repeat("k", 90) + fmt.Sprintf("%07d", i)
	}
	for name, run := range map[string]func(keys []string){
		"transaction": func(keys []string) {
			var e execution
			for i := 0; i < len(keys); i += 8 {
				e.steps = append(e.steps, step{keys: keys[i : i+8]})
			}
			e.keys(nil)
		},
		"watch": func(keys []string) {
			w := new(watch)
			added, _ := w.add(keys[:min(len(keys), maxWatched)])
			for _, key := range added {
				w.has(key)
			}
		},
	} {
		few, many := time.Hour, 7*time.Hour
		for n := 0; n < 100 && many > 6*few; n++ { // so that the machine is nobody else's once
			began := time.Now()
			for range 16 {
				run(keys[:len(keys)/16])
			}
			few = min(few, time.Since(began))
			began = time.Now()
			run(keys)
			many = min(many, time.Since(began))
		}
		if many > 6*few {
			t.Errorf("%s: %v for few at a time, and %v for as many at once", name, few, many)
		}
	}
}
