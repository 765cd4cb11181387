package commands

import (
	"testing"
	"time"

	"redlock-proxy/commands/acl"
)

// Who may send so many has his turn by all his connections; who has not shown who he is takes none.
func TestRateOfAUser(t *testing.T) {
	b := newBounded(t, "max-rate=10")
	all := []*Session{b.Session}
	for id := range int64(3) {
		all = append(all, b.d.Session(8+id))
		all[id+1].Do([]string{"AUTH", "u", "any"})
	}
	want := func(s *Session, want time.Duration) {
		t.Helper()
		if got := s.Wait("PING", time.Minute); got != want {
			t.Errorf("it waits %v, want %v", got, want)
		}
	}
	for i, s := range all {
		want(s, time.Duration(i)*100*time.Millisecond)
	}
	all[1].Leave()
	want(all[2], 100*time.Millisecond)
	want(all[0], 200*time.Millisecond)
	if err := b.d.users.Set("u", []string{"max-rate=0"}); err != nil {
		t.Fatal(err)
	}
	want(all[3], 0)
	if err := b.d.users.Set(acl.Default, []string{"max-rate=1", "resetpass"}); err != nil {
		t.Fatal(err)
	}
	stranger := b.d.Session(20)
	for range 3 {
		if got := stranger.Wait("PING", time.Minute); got != 0 {
			t.Errorf("a stranger waits %v", got)
		}
	}
	if err := b.d.users.Set(acl.Default, []string{"nopass"}); err != nil {
		t.Fatal(err)
	}
	b.d.Session(21).Wait("PING", time.Minute)
	anybody := b.d.Session(22)
	if first, second := anybody.Wait("hello", time.Minute), anybody.Wait("HELLO", time.Minute); first != 0 || second != time.Second {
		t.Errorf("to show who one is waits %v, and then %v", first, second)
	}
}
