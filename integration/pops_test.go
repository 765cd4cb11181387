package integration

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// Each of those who take from a line gets another element, through one proxy or two: from a list, or from a
// sorted set in which all have one score.
func TestEachElementIsPoppedOnceFromTheFirstKeyThatHasAny(t *testing.T) {
	t.Parallel()
	_, proxies := twoProxies(t, 3)
	poppedByAll(t, proxies, "RPUSH line", "LMPOP 2 none line LEFT", "LMPOP 1 line RIGHT COUNT 3")
	poppedByAll(t, proxies, "ZADD ranks", "ZMPOP 3 none ranks none MIN COUNT 2", "ZPOPMAX ranks", "ZPOPMIN ranks 2")
	poppedByAll(t, proxies[:1], "ZADD seats", "EVAL zpopmin 1 seats", "ZMPOP 1 seats MAX")
}

// What comes is what a quorum has at that end of the same key, and what only a minority had is there again.
func TestWhatIsPoppedIsThatOfAQuorum(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for _, test := range []struct {
		has  [3]string
		pop  string
		want any       // "" is NOQUORUM
		left [3]string // ? where it hangs on who was heard first
	}{
		{[3]string{"a b", "a b", "b"}, "MPOP 2 none k FIRST", []any{"k", []any{"a"}}, [3]string{"b", "b", "?"}},
		{[3]string{"a b", "a b", ""}, "MPOP 2 k none LAST COUNT 5", []any{"k", []any{"b", "a"}}, [3]string{"", "", ""}},
		{[3]string{"a", "", ""}, "MPOP 2 k none FIRST", nil, [3]string{"a", "", ""}},
		{[3]string{"a b c", "a b", "b c"}, "MPOP 1 k FIRST", "", [3]string{"a b c", "a b", "b c"}}, // of whom two answer alike, and have others left
		{[3]string{"a", "b", "c"}, "MPOP 1 k LAST", "", [3]string{"a", "b", "c"}},
	} {
		for _, of := range []string{"L", "Z"} {
			for i, m := range masters {
				ask(t, m, "DEL", "k")
				for j, member := range strings.Fields(test.has[i]) {
					ask(t, m, map[string][]string{"L": {"RPUSH", "k", member}, "Z": {"ZADD", "k", fmt.Sprint(j), member}}[of]...)
				}
			}
			ends := map[string]*strings.Replacer{"L": strings.NewReplacer("FIRST", "LEFT", "LAST", "RIGHT"), "Z": strings.NewReplacer("FIRST", "MIN", "LAST", "MAX")}
			got := c.do(strings.Fields(of + ends[of].Replace(test.pop))...)
			if popped, is := got.([]any); is && of == "Z" {
				got = []any{popped[0], membersOf(popped[1].([]any))}
			}
			if test.want == "" && !isNoQuorum(got) || test.want != "" && !reflect.DeepEqual(got, test.want) {
				t.Errorf("%q: %s%s is answered %v, want %v", test.has, of, test.pop, got, test.want)
			}
			for i, m := range masters {
				eventually(t, func() error {
					if held := fmt.Sprint(ask(t, m, of+"RANGE", "k", "0", "-1")); test.left[i] != "?" && held != "["+test.left[i]+"]" {
						return fmt.Errorf("after %s%s master %d holds %s, want %s", of, test.pop, i, held, test.left[i])
					}
					return nil
				})
			}
		}
	}
}

// membersOf are the members of pairs with a score.
func membersOf(pairs []any) (members []any) {
	for _, pair := range pairs {
		members = append(members, pair.([]any)[0])
	}
	return members
}

// As much is popped at once as a reply holds, or nothing: of a list 500 elements, and 250 members with their scores.
func TestAsMuchIsPoppedAsAReplyHolds(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3, unhurried...)
	c := dial(t, p.Addr)
	list, set := []string{"RPUSH", "list"}, []string{"ZADD", "set"}
	for i := range 501 {
		list, set = append(list, fmt.Sprint(i)), append(set, fmt.Sprint(i), fmt.Sprint("member ", i))
	}
	for _, row := range []struct {
		pop, keeps string
		values     int // that are popped with its count, and not with one more
	}{
		{"LMPOP 2 none list LEFT COUNT 500", "LLEN list", 500},
		{"ZPOPMIN set 250", "ZCARD set", 500},
		{"ZMPOP 1 set MAX COUNT 250", "ZCARD set", 250},
	} {
		c.do("DEL", "list", "set")
		c.want(int64(501), list...)
		c.want(int64(501), set...)
		words := strings.Fields(row.pop)
		count := &words[len(words)-1]
		n, _ := strconv.Atoi(*count)
		*count = strconv.Itoa(n + 1)
		keys := []string{"EVAL", "redis.call(unpack(ARGV)) return 1", "3", "none", "list", "set"}
		for _, how := range [][]string{words, append(keys, words...)} {
			if f, _ := c.do(how...).(Failure); !strings.Contains(string(f), "the reply of the script is too large") {
				t.Errorf("%q is answered %v", how, f)
			}
		}
		c.want(int64(501), strings.Fields(row.keeps)...)
		*count = strconv.Itoa(n)
		popped := c.do(words...).([]any)
		if len(popped) == 2 {
			popped = popped[1].([]any)
		}
		if len(popped) != row.values {
			t.Errorf("%q pops %d values", words, len(popped))
		}
		c.want(int64(501-n), strings.Fields(row.keeps)...)
	}
}
