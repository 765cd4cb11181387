package integration

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// patience is how long is waited for what must come. It ends only what would hang, and so
// is longer than anything takes on a machine that does other things at the same time.
const patience = time.Minute

// patient lets a machine that does other things at the same time be slow: most
// tests are about what is decided and not about how long it takes. Those that
// are about time name their own, which count as they come later.
var patient = []string{"--acquire-timeout", "2s", "--master-timeout", "1s"}

// unhurried is for tests that hold back what masters answer, until something has been asked
// of them: a probe that is not answered would keep that from being sent. And for those that compare
// each of many answers with Redis's.
var unhurried = []string{"--acquire-timeout", "30s", "--master-timeout", "30s", "--probe-interval", "20s"}

// brisk is how long a quorum is waited for where there is none, but where there is one as well.
var brisk = []string{"--acquire-timeout", briskly.String(), "--master-timeout", briskly.String()}

const briskly = 500 * time.Millisecond

// voting counts the masters whose votes count, as INFO tells.
func voting(t *testing.T, p *Proxy) int {
	t.Helper()
	c := dial(t, p.Addr)
	defer c.Close()
	return strings.Count(c.text("INFO", "quorum"), "state=voting")
}

func awaitVoting(t *testing.T, p *Proxy, n int) {
	t.Helper()
	eventually(t, func() error {
		if got := voting(t, p); got != n {
			return fmt.Errorf("%d masters vote, want %d", got, n)
		}
		return nil
	})
}

// eventually tries until it works.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %v", patience, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// always holds that something does not change for a while.
func always(t *testing.T, during time.Duration, check func() error) {
	t.Helper()
	for deadline := time.Now().Add(during); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if err := check(); err != nil {
			t.Fatal(err)
		}
	}
}

// holding tells on which masters key holds token.
func holding(t *testing.T, masters []*Redis, key, token string) []int {
	t.Helper()
	var on []int
	for i, m := range masters {
		if m.Ended() {
			continue
		}
		if ask(t, m, "GET", key) == token {
			on = append(on, i)
		}
	}
	return on
}

// wantHolding waits until exactly these masters hold the token. It is not at
// once so: an answer is sent with the deciding vote, and the others follow.
func wantHolding(t *testing.T, masters []*Redis, key, token string, want ...int) {
	t.Helper()
	eventually(t, func() error {
		if got := holding(t, masters, key, token); !reflect.DeepEqual(got, want) {
			return fmt.Errorf("%s=%s is held by masters %v, want %v", key, token, got, want)
		}
		return nil
	})
}

func wantGone(t *testing.T, masters []*Redis, key string) {
	t.Helper()
	eventually(t, func() error {
		for i, m := range masters {
			if !m.Ended() && ask(t, m, "EXISTS", key) != int64(0) {
				return fmt.Errorf("master %d still has %s", i, key)
			}
		}
		return nil
	})
}
