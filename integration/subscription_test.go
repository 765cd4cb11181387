package integration

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestMastersWithPasswordAreHeard: the subscription passes the same gate
// as commands do.
func TestMastersWithPasswordAreHeard(t *testing.T) {
	t.Parallel()
	masters := make([]*Redis, 3)
	for i := range masters {
		masters[i] = startMaster(t, RedisOptions{Password: "s3cret"})
	}
	args := append(flags(masters), "--master-password-file", writeFile(t, "s3cret\n"))
	first, second := startProxy(t, args...), startProxy(t, args...)
	there := hears(t, second, "c")
	dial(t, first.Addr).want(0, "PUBLISH", "c", "one")
	there.wantMessage("c", "one")
}

// TestMasterThatForbidsMessagesIsNamedInTheLog, once when it begins and once when
// it ends; the others carry them.
func TestMasterThatForbidsMessagesIsNamedInTheLog(t *testing.T) {
	t.Parallel()
	masters, first := startQuorum(t, 3)
	second := startProxy(t, flags(masters)...)
	ask(t, masters[0], "ACL", "SETUSER", "default", "resetchannels")
	there := hears(t, second, "c")
	dial(t, first.Addr).want(0, "PUBLISH", "c", "one")
	there.wantMessage("c", "one")
	times := func(p *Proxy, text string, want int) {
		t.Helper()
		eventually(t, func() error {
			if got := strings.Count(p.Log(), text); got != want {
				return fmt.Errorf("the log has %q %d times, want %d", text, got, want)
			}
			return nil
		})
	}
	times(second, "messages cannot be heard", 1)
	time.Sleep(time.Second)
	times(second, "messages cannot be heard", 1)
	ask(t, masters[0], "ACL", "SETUSER", "default", "allchannels")
	times(second, "messages are heard again", 1)
	awaitSubscriptions(t, second, 3)
}

// TestProxyListensToItsMastersFromItsStart, at each on one connection, whether a client does or not.
func TestProxyListensToItsMastersFromItsStart(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	awaitSubscriptions(t, p, 3)
	hears(t, p, "c")
	for i, m := range masters {
		list, _ := ask(t, m, "CLIENT", "LIST").(string)
		if n := strings.Count(list, " flags=P "); n != 1 {
			t.Errorf("master %d has %d that listen:\n%s", i, n, list)
		}
	}
}

// TestProxyThatMayNotListenLocksAllTheSame, and says once of each master that it may not.
func TestProxyThatMayNotListenLocksAllTheSame(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	for _, m := range masters {
		ask(t, m, "ACL", "SETUSER", "default", "-subscribe")
	}
	p := launch(t, ProxyOptions{Args: append(flags(masters), brisk...)})
	awaitVoting(t, p, 3)
	c := dial(t, p.Addr)
	warned := func() int { return strings.Count(p.Log(), "messages cannot be heard") }
	eventually(t, func() error {
		if n := warned(); n != len(masters) {
			return fmt.Errorf("%d warnings", n)
		}
		return nil
	})
	for i := range 10 {
		cycle(c, fmt.Sprint("k", i))
	}
	c.wantNoQuorum("SUBSCRIBE", "c")
	c.want(0, "PUBLISH", "c", "m")
	awaitVoting(t, p, 3)
	if n := warned(); n != len(masters) {
		t.Errorf("%d warnings", n)
	}
}

func TestSubscribingWithoutAQuorumSaysSo(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, brisk...)
	must(t, masters[0].Kill())
	must(t, masters[1].Kill())
	awaitVoting(t, p, 1)
	c := dial(t, p.Addr)
	c.wantNoQuorum("SUBSCRIBE", "c")
	c.want("PONG", "PING") // it is no subscriber
	must(t, masters[0].Restart())
	eventually(t, func() error {
		if reply := c.do("SUBSCRIBE", "c"); !reflect.DeepEqual(reply, []any{"subscribe", "c", int64(1)}) {
			return fmt.Errorf("got %v", reply)
		}
		return nil
	})
	dial(t, p.Addr).want(1, "PUBLISH", "c", "one")
	c.wantMessage("c", "one")
}

// TestSlowSubscriberIsCutOff at its limit, and neither publishers nor other
// subscribers wait for it.
func TestSlowSubscriberIsCutOff(t *testing.T) {
	t.Parallel()
	masters, first := startQuorum(t, 3)
	second := startProxy(t, flags(masters)...)
	hears(t, second, "c")
	quick, publisher, looker := hears(t, second, "c"), dial(t, first.Addr), dial(t, second.Addr)
	big := strings.Repeat("x", 1<<20)
	for i := 0; looker.text2(t, "PUBSUB", "NUMSUB", "c") == "2"; i++ {
		publisher.want(0, "PUBLISH", "c", big)
		quick.wantMessage("c", big)
		if i == 100 {
			t.Fatal("it was given 100 MB")
		}
	}
	publisher.want(0, "PUBLISH", "c", "last")
	quick.wantMessage("c", "last")
	if info := looker.text("INFO", "stats"); !strings.Contains(info, "client_output_buffer_limit_disconnections:1\r\n") {
		t.Error("INFO does not count it")
	}
}
