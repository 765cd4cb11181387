package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestGarbageCostsAMasterItsConnection: what no Redis would say, said by one
// master between or in place of its replies. The proxy is still the same
// process afterwards, and uses the master again.
func TestGarbageCostsAMasterItsConnection(t *testing.T) {
	masters := startMasters(t, 3)
	relay := startRelay(t, masters[2].Addr)
	p := startProxy(t, append(flags(masters[:2]), "--master", relay.Addr)...)
	c := dial(t, p.Addr)

	replies := map[string]string{
		"surplus OK":           "+OK\r\n",
		"many surplus replies": strings.Repeat(":1\r\n", 5000),
		"surplus error":        "-ERR what\r\n",
		"push nobody asked":    ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n",
		"huge bulk":            "$9223372036854775807\r\n",
		"bulk of 2 GB":         "$2147483647\r\nabc",
		"huge array":           "*9223372036854775806\r\n",
		"array of 2^31":        "*2147483647\r\n:1\r\n",
		"negative lengths":     "$-7\r\n*-9\r\n",
		"length of letters":    "$abc\r\n",
		"half a reply":         "$5\r\nab",
		"no reply type":        "hello\r\n",
		"deep nesting":         strings.Repeat("*1\r\n", 100_000),
		"no line end":          strings.Repeat("x", 1<<20),
		"attribute":            "|1\r\n+a\r\n+b\r\n",
		"streamed":             "$?\r\n;4\r\nabcd\r\n;0\r\n",
		"zero bytes":           "\x00\x00\x00\x00\r\n",
		"HTTP":                 "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
	}
	for name, bytes := range replies {
		t.Run(name+" between", func(t *testing.T) {
			c := talk{c.Client, t}
			awaitVoting(t, p, 3)
			// The proxy may hang up before it has read all of it.
			_ = relay.Inject([]byte(bytes))
			goesOn(c, p)
		})
		t.Run(name+" instead", func(t *testing.T) {
			c := talk{c.Client, t}
			relay.Replies.Rewrite(func([]byte) []byte { return []byte(bytes) })
			goesOn(c, p)
			relay.Replies.Rewrite(nil)
			goesOn(c, p)
		})
	}
	relay.Cut()
	relay.Restore()
	awaitVoting(t, p, 3)
	wantSmall(t, p.Child, 500<<20)
}

// goesOn: locks are had without the master that is in trouble.
func goesOn(c talk, p *Proxy) {
	c.t.Helper()
	for i := range 5 {
		cycle(c, fmt.Sprint("k", i))
		time.Sleep(time.Millisecond)
	}
	if p.Ended() {
		c.t.Fatalf("the proxy has ended:\n%s", p.Log())
	}
}

// TestWrongAnswersOfAMinorityDecideNothing: well-formed, in order, and not
// what the command could be answered with.
func TestWrongAnswersOfAMinorityDecideNothing(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relay := startRelay(t, masters[2].Addr)
	p := startProxy(t, append(flags(masters[:2]), "--master", relay.Addr)...)
	c := dial(t, p.Addr)
	for _, swap := range [][2]string{{"+OK", ":1"}, {":1", "+OK"}, {"$-1", ":7"}, {"$", "+"}, {"+OK", "-OK"}, {"*", "~"}} {
		t.Run(fmt.Sprintf("%q for %q", swap[1], swap[0]), func(t *testing.T) {
			c := talk{c.Client, t}
			relay.Replies.Rewrite(func(b []byte) []byte {
				return []byte(strings.ReplaceAll(string(b), swap[0], swap[1]))
			})
			goesOn(c, p)
			relay.Replies.Rewrite(nil)
			goesOn(c, p)
		})
	}
	awaitVoting(t, p, 3)
}
