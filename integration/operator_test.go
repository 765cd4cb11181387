package integration

import (
	"fmt"
	"strings"
	"testing"
)

// stateIs is an error unless LOCK MASTERS says of the i-th master that it is in
// this state, for this reason.
func stateIs(c talk, i int, state, why string) error {
	masters, ok := c.do("LOCK", "MASTERS").([]any)
	if !ok || i+1 >= len(masters) {
		return fmt.Errorf("LOCK MASTERS: %v", masters)
	}
	words, _ := masters[i+1].([]any) // behind the summary
	fields := make(map[any]any)
	for j := 0; j+1 < len(words); j += 2 {
		fields[words[j]] = words[j+1]
	}
	if fields["state"] != state || !strings.Contains(fmt.Sprint(fields["why"]), why) {
		return fmt.Errorf("it is %v (%v), want %s (%s)", fields["state"], fields["why"], state, why)
	}
	return nil
}

// Maintenance as the README describes it: drained, ended, started again, resumed.
// The master has lost its memory by then, and the operator lets it vote.
func TestMasterIsTakenOutAndInByHand(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--user", "default on nopass ~* &* +@all")
	c := dial(t, p.Addr)
	m := masters[0]
	stands := func(state, why string) {
		t.Helper()
		eventually(t, func() error { return stateIs(c, 0, state, why) })
	}
	stands("voting", "")
	if reply := c.do("LOCK", "DRAIN", "nobody"); !strings.HasPrefix(fmt.Sprint(reply), `ERR there is no master "nobody", the masters are `+m.Addr) {
		t.Errorf("%v", reply)
	}
	c.want("OK", "SET", "old", "t", "NX", "PX", milliseconds(ttl))
	wantHolding(t, masters, "old", "t", 0, 1, 2)
	if reply := c.text("LOCK", "DRAIN", m.Addr); !strings.HasPrefix(reply, "OK, ") {
		t.Errorf("%s", reply)
	}
	stands("drained", "by the operator")
	eventually(t, func() error {
		return logged(p, "an order was given: order=\"LOCK DRAIN\" about="+m.Addr+" reason=\"\" id=")
	})
	c.want("OK", "SET", "new", "t", "NX", "PX", milliseconds(ttl))
	wantHolding(t, masters, "new", "t", 1, 2)
	c.want(1, "DEL", "old")
	wantHolding(t, masters, "old", "t")

	must(t, m.Kill())
	stands("drained", "it is down")
	c.want("OK", "SET", "newer", "t", "NX", "PX", milliseconds(ttl))
	if log := p.Log(); strings.Contains(log, "master is down") {
		t.Errorf("its end was logged:\n%s", log)
	}
	must(t, m.Restart())
	stands("drained", "its marker is gone")
	c.want("OK", "LOCK", "RESUME", m.Addr)
	eventually(t, func() error {
		if reply := fmt.Sprint(c.do("LOCK", "ADMIT", m.Addr)); !strings.HasPrefix(reply, "OK, ") && !strings.Contains(reply, "it is voting") {
			return fmt.Errorf("LOCK ADMIT: %s", reply)
		}
		return stateIs(c, 0, "voting", "")
	})
	c.want("OK", "SET", "newest", "t", "NX", "PX", milliseconds(ttl))
	wantHolding(t, masters, "newest", "t", 0, 1, 2)
}
