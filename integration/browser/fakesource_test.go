package browser

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"redlock-proxy/proxy/page"
	"redlock-proxy/quorum"
)

// What follows is a fake as the page's Source.

func (f *fake) Overview() page.Overview {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expire()
	o := page.Overview{Proxy: page.Proxy{ID: "df1978df98eb2c32", Address: "10.0.1.4:6380", Version: "1.4.0", Since: page.Time(f.since), Clients: 41},
		Proxies: []page.Proxy{{ID: "02ab71f0c3d94e11", Address: "10.0.1.5:6380", Version: "1.4.0", Since: page.Time(f.since.Add(-72 * time.Hour))}},
		Latency: []page.Latency{{Kind: "acquire", P50: page.Millis(410 * time.Microsecond), P99: page.Millis(2300 * time.Microsecond)}, {Kind: "release", P50: page.Millis(380 * time.Microsecond), P99: page.Millis(1900 * time.Microsecond)}}}
	can := 0
	for i := range f.all {
		m := page.MasterOf(&f.all[i])
		m.Troubles = f.troubles[i]
		o.Masters = append(o.Masters, m)
		if f.all[i].State == quorum.Voting {
			can++
		}
	}
	o.Verdict = page.Verdict{Grants: can >= 2, Text: fmt.Sprintf("%d of 3 masters can vote, 2 are needed", can)}
	o.Verdict.Restart = page.Restart{Safe: can == 3, Text: "All masters vote, and nothing is owed to them."}
	if can < 3 {
		o.Verdict.Restart.Text = "What is owed to a master that is away would be forgotten."
	}
	for _, l := range f.locks {
		if l.State == page.Held {
			o.Held++
		}
		o.Waiters += l.Waiters
	}
	for _, c := range f.contended {
		o.Contended = append(o.Contended, *c)
	}
	slices.SortFunc(o.Contended, func(a, b page.Contended) int { return cmp.Compare(b.Refusals, a.Refusals) })
	return o
}

// expire ends what has run out. mu is held.
func (f *fake) expire() {
	for key, l := range f.locks {
		if l.State == page.Held && time.Now().After(time.Time(l.Until)) {
			f.became(key, page.Moment{What: page.WasExpired})
			l.State = page.Free
		}
	}
}

func (f *fake) Locks(_ context.Context, q page.Query) (page.Locks, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expire()
	var keys []string
	for key, l := range f.locks {
		// A path's pattern is Redis's but for slashes.
		matches, err := path.Match(strings.ReplaceAll(q.Pattern, "/", "\x00"), strings.ReplaceAll(key, "/", "\x00"))
		if err != nil {
			return page.Locks{}, fmt.Errorf("%q is no pattern: %w", q.Pattern, page.ErrBadAsking)
		}
		if l.State == page.Held && (q.Pattern == "" || matches) && q.DB <= 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	list := page.Locks{Total: len(keys)}
	for _, key := range keys {
		if key <= q.After && q.After != "" {
			continue
		}
		if len(list.Locks) == q.Count {
			list.Next = string(list.Locks[q.Count-1].Key)
			break
		}
		list.Locks = append(list.Locks, *f.seen(key))
	}
	return list, nil
}

// seen is a lock as it is told of. mu is held.
func (f *fake) seen(key string) *page.Lock {
	l := *f.locks[key]
	l.Votes = slices.Clone(l.Votes)
	l.Left = page.Millis(time.Until(time.Time(l.Until)))
	return &l
}

func (f *fake) Lock(_ context.Context, db int, key string) (page.Lock, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expire()
	if f.locks[key] == nil || db != 0 {
		return page.Lock{}, page.ErrNotThere
	}
	return *f.seen(key), nil
}

func (f *fake) Events(after uint64) ([]page.Event, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.events[min(int(after), len(f.events)):]), f.more
}

func (f *fake) Forbidden(page.Who, string) {}

func (f *fake) OrdersAllowed() bool            { return f.allowed }
func (f *fake) MayOrder(page.Who, string) bool { return f.allowed }

func (f *fake) Looking(page.Who) func() bool { return func() bool { return true } }

func (f *fake) Order(_ context.Context, who page.Who, o page.Order) (string, error) {
	f.mu.Lock()
	f.given = append(f.given, strings.TrimSpace(fmt.Sprintf("%s %s%s %s: %s", o.Order, o.Master, o.Key, o.Holder, o.Reason)))
	l := f.locks[o.Key]
	f.mu.Unlock()
	master := slices.IndexFunc(f.all, func(m quorum.MasterStatus) bool { return m.Name == o.Master })
	switch o.Order {
	case page.FreeLock:
		if l == nil || l.Holder != o.Holder {
			return "", fmt.Errorf("somebody else holds it by now: %w", page.ErrNotNow)
		}
		f.end(o.Key, page.WasForced, "an operator", o.Reason)
		return "The lock is freed on 3 of 3 masters.", nil
	case page.DrainMaster:
		if f.Overview().Verdict.Grants && !f.Overview().Verdict.Restart.Safe && !o.Force {
			return "", fmt.Errorf("too few masters would be left for a quorum: %w", page.ErrNotNow)
		}
		f.becomes(master, quorum.Drained, "")
		return "Master " + o.Master + " is drained.", nil
	case page.ResumeMaster, page.AdmitMaster:
		f.becomes(master, quorum.Voting, "")
		return "Master " + o.Master + " votes.", nil
	}
	return "", page.ErrBadAsking
}
