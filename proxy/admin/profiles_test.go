package admin

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestProfilesTakeAsLongAsTheyAreAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		r.source.operates = true
		for _, row := range []struct {
			seconds string
			code    int
			takes   time.Duration
		}{
			{"2", 200, 2 * time.Second}, {"60", 200, time.Minute}, {"300", 200, 5 * time.Minute},
			{"301", 400, 0}, {"1e9", 400, 0}, {"NaN", 400, 0}, {"+Inf", 400, 0}, {"-1", 400, 0}, {"x", 400, 0},
		} {
			began := time.Now()
			if a := r.ask("GET /debug/pprof/goroutine?seconds=" + row.seconds); a.code != row.code || time.Since(began) != row.takes {
				t.Errorf("of %s seconds: %d after %v, want %d after %v", row.seconds, a.code, time.Since(began), row.code, row.takes)
			}
		}
		r.end()
	})
}
