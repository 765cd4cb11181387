package integration

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Whatever a time to wait is written like, it is to the proxy what it is to Redis.
func TestTimesToWaitAreThoseOfRedis(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	looker, redis := dial(t, p.Addr), direct(t, masters[0])
	for _, command := range []string{
		"BLPOP q ?", "BRPOP q ?", "BLMOVE q to LEFT LEFT ?", "BRPOPLPUSH q to ?", "BLMPOP ? 1 q LEFT", "BZPOPMIN z ?", "BZPOPMAX z ?", "BZMPOP ? 1 z MIN",
	} {
		words := func(word string) []string {
			args := strings.Fields(command)
			for i := range args {
				if args[i] == "?" {
					args[i] = word
				}
			}
			return args
		}
		for _, word := range []string{
			"1e-400", "0x1p-1080", "0x1p-16445", "1.9e-4951", "0x.8p-9", "1.E-3", "1e-0000003", "-1", "-.0010001", "-1e400", "-inf", "1.8e-4951", "1e-5000", "-1e-5000",
			"0x1p-16446", "1e5000", "1.19e4932", "0x1p16384", "", " 1", "1 ", "1\x00", "1_0", "0x", "0x.p1", "1e", "0b1", ".", "nan", "nan(1)", "infinit", "1s",
			strings.Repeat("0", 5120), "0." + strings.Repeat("0", 4000) + "1",
		} {
			if ours, theirs := looker.do(words(word)...), redis.do(words(word)...); !reflect.DeepEqual(ours, theirs) {
				t.Errorf("%s of %.40q: %v, Redis answers %v", command, word, ours, theirs)
			}
		}
		for _, word := range []string{"0", "-0", "-1e-400", "-.0001", "-.001", "0e99999999999", "0x0p-99999", strings.Repeat("0", 5119), "1e9", "9.2e15"} {
			for name, at := range map[string]struct {
				client, looker talk
			}{"the proxy": {dial(t, p.Addr), looker}, "Redis": {direct(t, masters[0]), redis}} {
				at.client.send(words(word)...)
				eventually(t, func() error {
					if !strings.Contains(at.looker.text("INFO", "clients"), "blocked_clients:1\r\n") {
						return fmt.Errorf("%s of %.40q does not wait at %s", command, word, name)
					}
					return nil
				})
				must(t, at.client.Close())
				waiting(t, at.looker, 0)
			}
		}
	}
	client := dial(t, p.Addr) // not so from Redis 7.2 on
	client.send("BLPOP", "q", "9223372036854775")
	waiting(t, looker, 1)
}
