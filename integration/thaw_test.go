package integration

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestThawedMasterKeepsNoMoreThanItsSocketHeld: what was on its way to a master
// when it froze is carried out when it thaws. Locks that were released meanwhile and
// are not that are taken back; these end with their ttl, since by then they cannot be
// told from later locks under the same token.
func TestThawedMasterKeepsNoMoreThanItsSocketHeld(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--probe-interval", "200ms")
	const clients = 32
	stop := make(chan struct{})
	var group sync.WaitGroup
	for i := range clients {
		c := dial(t, p.Addr)
		group.Go(func() {
			for j := 0; ; j++ {
				select {
				case <-stop:
					return
				default:
				}
				key, token := fmt.Sprintf("k%d-%d", i, j), fmt.Sprintf("t%d-%d", i, j)
				if reply, err := c.Do(acquireArgs(key, token, 10*time.Minute)...); err != nil || reply != "OK" {
					t.Errorf("acquire %s: %v, %v", key, reply, err)
					return
				}
				if reply, err := c.Do(releaseArgs(key, token)...); err != nil || reply != int64(1) {
					t.Errorf("release %s: %v, %v", key, reply, err)
					return
				}
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	must(t, masters[2].Freeze())
	awaitVoting(t, p, 2)
	time.Sleep(500 * time.Millisecond)
	must(t, masters[2].Thaw())
	time.Sleep(500 * time.Millisecond)
	close(stop)
	group.Wait()
	awaitVoting(t, p, 3)
	eventually(t, func() error {
		if info := dial(t, p.Addr).text("INFO", "quorum"); strings.Count(info, "debts=0") < 3 {
			return fmt.Errorf("debts are not paid:\n%s", info)
		}
		return nil
	})
	for i, m := range masters {
		most := []int64{0, 0, 2 * clients}[i]
		eventually(t, func() error {
			// Without the marker of database 0.
			if stray := ask(t, m, "DBSIZE").(int64) - 1; stray > most {
				return fmt.Errorf("master %d holds %d keys that nobody has a lock of", i+1, stray)
			}
			return nil
		})
	}
}
