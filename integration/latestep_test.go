package integration

import (
	"fmt"
	"reflect"
	"testing"
	"time"
)

// allHold waits until all masters hold these elements of a list, and no others.
func allHold(t *testing.T, masters []*Redis, key string, elements ...any) {
	t.Helper()
	for _, m := range masters {
		eventually(t, func() error {
			if got := ask(t, m, "LRANGE", key, "0", "-1"); !reflect.DeepEqual(got, append([]any{}, elements...)) {
				return fmt.Errorf("a master holds %v, want %v", got, elements)
			}
			return nil
		})
	}
}

// A pop that found nothing comes late to a master where another proxy has pushed meanwhile: what is put back there is what
// it took.
func TestLatePopThatFoundNothingTakesNothing(t *testing.T) {
	t.Parallel()
	masters := durableMasters(t, 3)
	ra := relayed(t, masters)
	a := startProxy(t, append(relayFlags(ra), "--acquire-timeout", "2s", "--master-timeout", "3s")...)
	b := startProxy(t, append(flags(masters), "--acquire-timeout", "2s", "--master-timeout", "3s")...)
	ca, cb := dial(t, a.Addr), dial(t, b.Addr)
	ca.want(int64(1), "RPUSH", "l", "warm")
	ca.want("warm", "LPOP", "l")
	ca.want(nil, "LPOP", "l")
	allHold(t, masters, "l")

	ra[2].Requests.Delay(400 * time.Millisecond)
	ca.want(nil, "LPOP", "l") // by 1 and 2
	must(t, masters[1].Kill())
	if got := cb.do("RPUSH", "l", "y"); got != int64(1) { // by masters 1 and 3
		t.Skipf("it was not pushed: %v", got)
	}
	ra[2].Requests.Delay(0)
	time.Sleep(1500 * time.Millisecond)
	must(t, masters[1].Restart())
	awaitVoting(t, b, 3)
	awaitVoting(t, a, 3)
	if got := cb.do("LPOP", "l"); got != "y" {
		t.Errorf("y, which was pushed, is popped as %v", got)
	}
}

// The other way: a push that was refused comes late to where there is room for it now, and what was popped is not put back.
func TestLatePushThatWasRefusedPutsNothingBack(t *testing.T) {
	t.Parallel()
	masters := durableMasters(t, 3)
	ra := relayed(t, masters)
	a := startProxy(t, append(relayFlags(ra), "--acquire-timeout", "2s", "--master-timeout", "3s")...)
	b := startProxy(t, append(flags(masters), "--acquire-timeout", "2s", "--master-timeout", "3s")...)
	ca, cb := dial(t, a.Addr), dial(t, b.Addr)
	bounded := func(element string) []string {
		return []string{"EVAL", "if redis.call('llen', KEYS[1]) < 2 then return redis.call('rpush', KEYS[1], ARGV[1]) end return 0", "1", "l", element}
	}
	ca.want(int64(1), bounded("y")...)
	ca.want(int64(2), bounded("w")...)
	ca.want(int64(0), bounded("z")...)
	time.Sleep(500 * time.Millisecond)

	ra[2].Requests.Delay(400 * time.Millisecond)
	ca.want(int64(0), bounded("z")...) // by 1 and 2
	must(t, masters[1].Kill())
	cb.want("y", "LPOP", "l") // by masters 1 and 3
	ra[2].Requests.Delay(0)
	time.Sleep(1500 * time.Millisecond)
	must(t, masters[1].Restart())
	awaitVoting(t, b, 3)
	awaitVoting(t, a, 3)
	if got := cb.do("LPOP", "l"); got == "y" {
		t.Errorf("y is popped once more")
	}
}
