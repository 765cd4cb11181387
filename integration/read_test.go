package integration

import (
	"fmt"
	"testing"
	"time"
)

// TestReadIsWhatAQuorumHolds puts values on the masters behind the proxy's back.
func TestReadIsWhatAQuorumHolds(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for i, test := range []struct {
		holds [3]string // "" is nothing
		want  any
	}{
		{[3]string{"a", "a", "a"}, "a"},
		{[3]string{"a", "a", "b"}, "a"},
		{[3]string{"b", "a", "a"}, "a"},
		{[3]string{"a", "a", ""}, "a"},
		{[3]string{"a", "b", "c"}, nil},
		{[3]string{"a", "b", ""}, nil},
		{[3]string{"a", "", ""}, nil},
		{[3]string{"", "", ""}, nil},
	} {
		t.Run(fmt.Sprint(test.holds), func(t *testing.T) {
			c := talk{c.Client, t}
			key := fmt.Sprint("k", i)
			for j, value := range test.holds {
				if value != "" {
					direct(t, masters[j]).want("OK", "SET", key, value, "PX", milliseconds(ttl))
				}
			}
			exists, kind, length := int64(0), "none", int64(0)
			if s, ok := test.want.(string); ok {
				exists, kind, length = 1, "string", int64(len(s))
			}
			c.want(test.want, "GET", key)
			c.want(exists, "EXISTS", key)
			c.want(kind, "TYPE", key)
			c.want(length, "STRLEN", key)
			if ms := c.integer("PTTL", key); exists == 1 != (ms > 0) {
				t.Fatalf("PTTL: got %d", ms)
			}
		})
	}
}

// TestRemainingTTLIsTheQuorumthLargest: for so long a quorum still holds it.
func TestRemainingTTLIsTheQuorumthLargest(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 5)
	// The answer falls with the deciding vote; this one is to come later.
	late := startRelay(t, masters[0].Addr)
	p := startProxy(t, append(flags(masters[1:]), "--master", late.Addr)...)
	late.Replies.Delay(20 * time.Millisecond)
	start := time.Now()
	for i, ms := range []string{"10000", "20000", "40000", "50000", "60000"} {
		direct(t, masters[i]).want("OK", "SET", "k", "t", "PX", ms)
	}
	// Beyond doubt longer lived, but it is another value.
	direct(t, masters[4]).want("OK", "SET", "k", "other", "PX", "90000")
	// 50, 40, 20 s: the third, without its drift.
	left := time.Duration(dial(t, p.Addr).integer("PTTL", "k")) * time.Millisecond
	const most = 20*time.Second - 202*time.Millisecond
	if spent := time.Since(start); left > most || left < most-spent-5*time.Millisecond {
		t.Fatalf("PTTL tells %v, want %v, %v after it was set", left, most, spent)
	}
	// To the second next to it.
	seconds := time.Duration(dial(t, p.Addr).integer("TTL", "k")) * time.Second
	if spent := time.Since(start); seconds > 20*time.Second || seconds < most-spent-510*time.Millisecond {
		t.Fatalf("TTL tells %v, %v after it was set", seconds, spent)
	}
}

func TestReadNeedsAQuorumAndNoMore(t *testing.T) {
	masters, p := startQuorum(t, 3, brisk...)
	c := dial(t, p.Addr)
	c.lock("k", "t", ttl)
	wantHolding(t, masters, "k", "t", 0, 1, 2)
	must(t, masters[0].Freeze())
	took(t, time.Second, func() {
		c.want("t", "GET", "k")
		c.want(nil, "GET", "none")
	})
	must(t, masters[1].Freeze())
	took(t, time.Second, func() { c.wantNoQuorum("GET", "k") })
	must(t, masters[0].Thaw())
	must(t, masters[1].Thaw())
	eventually(t, func() error {
		if got := c.do("GET", "k"); got != "t" {
			return fmt.Errorf("got %v", got)
		}
		return nil
	})
}
