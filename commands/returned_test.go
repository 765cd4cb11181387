package commands

import "testing"

// What goes back is tried again until it is there, and each master is to have it once: also what is of a sorted set.
func TestWhatGoesBackIsAnExactStep(t *testing.T) {
	for _, into := range []string{"LPUSH", "RPUSH", "ZADD"} {
		back := Returned{Key: "k", Into: into, Elements: []string{"1", "a"}}
		if r := back.Request(); !r.Script.Exact {
			t.Errorf("%s is not", into)
		}
	}
}
