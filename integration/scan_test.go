package integration

import (
	"fmt"
	"testing"
)

// scanAll scans until the cursor is 0 again, and asks again where too few
// masters could be scanned.
func scanAll(t *testing.T, k talk, between func(call int)) map[string]int {
	t.Helper()
	listed := make(map[string]int)
	cursor := "0"
	for call := range 10_000 {
		between(call)
		reply, ok := k.do("SCAN", cursor, "COUNT", "20", "MATCH", "scan:*").([]any)
		if !ok {
			continue // NOQUORUM: the cursor stays good
		}
		for _, key := range reply[1].([]any) {
			listed[key.(string)]++
		}
		if cursor = reply[0].(string); cursor == "0" {
			return listed
		}
	}
	t.Fatal("the scan does not come to an end")
	return nil
}

// A key that is there all the time is listed, whatever becomes of a minority of
// the masters meanwhile; one that only a minority holds is not, once it is known that the
// others do not.
func TestScanListsWhatAQuorumHoldsWhileAMasterGoes(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	k := dial(t, p.Addr)
	for i := range 300 {
		k.lock(fmt.Sprint("scan:", i), "t", ttl)
	}
	for i := range 50 {
		ask(t, masters[1], "SET", fmt.Sprint("scan:minority:", i), "t")
	}
	k.want(int64(300), "DBSIZE")
	for frozen := range masters {
		listed := scanAll(t, k, func(call int) {
			switch call {
			case 3:
				must(t, masters[frozen].Freeze())
			case 30:
				must(t, masters[frozen].Thaw())
			}
		})
		masters[frozen].Thaw()
		awaitVoting(t, p, 3)
		for i := range 300 {
			if listed[fmt.Sprint("scan:", i)] == 0 {
				t.Errorf("scan:%d is not listed, with master %d frozen on the way", i, frozen)
			}
		}
	}
	for key := range scanAll(t, k, func(int) {}) {
		if len(key) > len("scan:300") {
			t.Errorf("%s is listed", key)
		}
	}
	if got := fmt.Sprint(k.do("KEYS", "*")); got != "NOPERM User default has no permissions to run the 'keys' command" {
		t.Error(got)
	}
}
