package main

import (
	"slices"
	"testing"
)

// Where a majority of the masters may be struck all the time, nobody need be served.
func TestNobodyIsServedWhereAMajorityIsStruck(t *testing.T) {
	for _, c := range []struct {
		masters, hands int
		bad            bool
	}{{3, 0, true}, {3, 1, true}, {3, 2, false}, {5, 2, true}, {5, 3, false}} {
		j := &judged{played: &played{plan: plan{hands: c.hands, works: locksAlone}, masters: c.masters}}
		if bad := slices.Contains(j.complaints(), nobodyServed); bad != c.bad {
			t.Errorf("%d masters, %d hands: %t", c.masters, c.hands, bad)
		}
	}
}
