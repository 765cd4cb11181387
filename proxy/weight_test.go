package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"redlock-proxy/quorum"
)

func TestWhatIsUndecidedIsBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Limits: Limits{MaxAsked: 100_000}})
		r.engine.weights = map[string]int{"a": 60_000, "b": 40_000, "c": 40_000, "huge": 1 << 20}
		c, other := r.dial(), r.dial()
		c.send("many a b c\r\nwrite huge\r\nwrite small\r\n")
		synctest.Wait()
		if got := r.engine.keys(); got != "write:a write:b" {
			t.Fatalf("put: %s", got)
		}
		other.send("write a\r\n")
		synctest.Wait()
		if got := r.engine.keys(); got != "write:a write:b write:a" {
			t.Fatalf("another client waits for this one: %s", got)
		}
		r.engine.answer(t, "b", won)
		synctest.Wait()
		if got := r.engine.keys(); !strings.HasSuffix(got, " write:c") {
			t.Fatalf("put when there is room: %s", got)
		}
		r.engine.answer(t, "a", won)
		synctest.Wait()
		if got := r.engine.keys(); !strings.HasSuffix(got, " write:c") {
			t.Fatalf("put beside others: %s", got)
		}
		r.engine.answer(t, "c", won)
		synctest.Wait()
		if got := r.engine.keys(); !strings.HasSuffix(got, " write:huge write:small") {
			t.Fatalf("put when nothing else is undecided: %s", got)
		}
		r.engine.answer(t, "huge", won)
		r.engine.answer(t, "small", won)
		c.expect(":3\r\n$4\r\nhuge\r\n$5\r\nsmall\r\n")
		r.engine.answer(t, "a", won)
		other.expect("$1\r\na\r\n")
		r.end()
	})
}

// Nothing is known of what a client reads first: it could be long.
func TestAClientIsBelievedMoreAndMoreThatWhatItReadsIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		var text strings.Builder
		for i := range 60 {
			fmt.Fprintf(&text, "GET %d\r\n", i)
		}
		c.send(text.String())
		put := func() int {
			synctest.Wait()
			return len(strings.Fields(r.engine.keys()))
		}
		n := put()
		if n != DefaultMaxAsked/unknownWeight {
			t.Errorf("%d are put at first", n)
		}
		answered := 0
		for ; answered < 40; answered++ {
			put()
			r.engine.answer(t, fmt.Sprint(answered), quorum.Result{Decision: quorum.Won, Exists: true, Value: "v"})
			c.expect("$1\r\nv\r\n")
		}
		if n = put(); n != 60 {
			t.Errorf("%d are put after %d short values", n, answered)
		}
		long := strings.Repeat("v", 1<<20)
		for ; answered < 60; answered++ {
			put()
			r.engine.answer(t, fmt.Sprint(answered), quorum.Result{Decision: quorum.Won, Exists: true, Value: long})
			c.expect("$1048576\r\n" + long + "\r\n")
		}
		c.send(text.String())
		if n = put(); n != 62 {
			t.Errorf("%d are put after values of 1 MiB", n-60)
		}
		r.end()
	})
}
