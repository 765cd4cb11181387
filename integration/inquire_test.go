package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/engine"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/members"
)

// answerer answers what a proxy is asked with its name.
type answerer string

func (a answerer) Asked(question string) string { return string(a) + " to " + question }

// colleagues are engines over the same masters, each of which answers with its number.
func colleagues(t *testing.T, masters []*Redis, n int) (list []*engine.Engine) {
	t.Helper()
	config := engine.Config{Set: master.Set{
		AcquireTimeout: time.Second, MaxTTL: time.Minute, ConnectTimeout: time.Second, MasterTimeout: time.Second, ProbeInterval: 200 * time.Millisecond,
	}}
	for _, m := range masters {
		config.Masters = append(config.Masters, master.Master{Name: m.Addr, Network: "tcp", Address: m.Addr})
	}
	must(t, members.Bootstrap(t.Context(), config.Equipped(), members.Bootstrapping{NoLocksHeld: true}))
	for i := range n {
		e := engine.New(config, hclog.NewNullLogger())
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			e.Close(ctx)
		})
		e.Consult(answerer(fmt.Sprint(i + 1)))
		list = append(list, e)
	}
	for _, e := range list {
		awaitHearing(t, e, len(masters))
	}
	return list
}

func awaitHearing(t *testing.T, e *engine.Engine, masters int) {
	t.Helper()
	eventually(t, func() error {
		if st := e.Status(); st.Subscriptions != masters || !e.Ready() {
			return fmt.Errorf("%d of %d masters are heard", st.Subscriptions, masters)
		}
		return nil
	})
}

// answersOf are what is answered within patience, sorted.
func answersOf(t *testing.T, e *engine.Engine, question string, enough int) (texts []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, a := range e.Inquire(ctx, question, enough) {
		texts = append(texts, a.Text)
	}
	slices.Sort(texts)
	return texts
}

// TestProxiesAskEachOtherThroughTheMasters: through all, through a quorum while one is frozen and
// another one down, and through those that come back.
func TestProxiesAskEachOtherThroughTheMasters(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 5)
	list := colleagues(t, masters, 3)
	want := func(question string) {
		t.Helper()
		if got := answersOf(t, list[0], question, 2); !slices.Equal(got, []string{"2 to " + question, "3 to " + question}) {
			t.Errorf("answered: %q", got)
		}
	}
	want("one\r\n\x00")
	want(strings.Repeat("x", quorum.MaxQuestion-len("2 to ")))
	must(t, masters[0].Freeze())
	must(t, masters[1].Kill())
	for range 20 {
		want("two")
	}
	must(t, masters[0].Thaw())
	must(t, masters[1].Restart())
	for _, e := range list {
		awaitHearing(t, e, len(masters))
	}
	must(t, masters[3].Kill())
	must(t, masters[4].Kill())
	want("three")
}
