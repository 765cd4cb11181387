package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/proxy/page"
)

// shelf is the keys of some databases, in pages as SCAN has them: as they lie, and not as they
// were asked for.
type shelf map[int][][]string

// ask is LOCK LIST; its cursor is the number of the page.
func (s shelf) ask(_ context.Context, db int, args ...string) (commands.Reply, error) {
	at, pages := 0, s[db]
	fmt.Sscan(args[5], &at)
	var keys []commands.Reply
	if at < len(pages) {
		for _, key := range pages[at] {
			keys = append(keys, commands.Map(commands.Bulk("key"), commands.Bulk(key), commands.Bulk("database"), commands.Integer(int64(db))))
		}
	}
	cursor := "0"
	if at+1 < len(pages) {
		cursor = fmt.Sprint(at + 1)
	}
	return commands.Array(commands.Bulk(cursor), commands.Array(keys...)), nil
}

func TestNoLockIsLostBetweenPagesAndDatabases(t *testing.T) {
	s := shelf{0: {{"a", "b", "c"}, {"d"}, {}, {"e", "f", "g", "h"}}, 3: {{}}, 7: {{"i"}, {"j", "k"}}}
	var pages []string
	for after, more := "", true; more; {
		l, err := listLocks(t.Context(), s.ask, []int{0, 3, 7}, page.Query{DB: page.AllDBs, Count: 2, After: after})
		if err != nil || l.Total != -1 || l.Note != "" {
			t.Fatalf("%+v, %v", l, err)
		}
		text := ""
		for _, lock := range l.Locks {
			text += fmt.Sprint(lock.DB, lock.Key, " ")
		}
		pages = append(pages, text+l.Next)
		after, more = l.Next, l.Next != ""
	}
	// One that was begun is told to its end, and one that is short is filled up.
	want := []string{"0a 0b 0c 0:1", "0d 0e 0f 0g 0h 3:0", "7i 7j 7k "}
	if !slices.Equal(pages, want) {
		t.Errorf("got  %q\nwant %q", pages, want)
	}
}

func TestListingGoesOnWhereItWas(t *testing.T) {
	for after, want := range map[string]string{"": "2 0", "2:77": "2 77", "5:0": "5 0", "x:0": "", "7": "", "-1:0": "", "16:0": ""} {
		db, cursor, ok := place(after, []int{2, 5})
		if got := fmt.Sprint(db, " ", cursor); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %s, %v", after, got, ok)
		}
	}
	_, err := listLocks(t.Context(), shelf{}.ask, []int{0}, page.Query{Count: 1, After: "nowhere"})
	if !errors.Is(err, page.ErrBadAsking) {
		t.Errorf("%v", err)
	}
}

// What is looked for may be nowhere among very many keys.
func TestLongSearchShowsWhatItHasFoundUntilThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		slow := func(_ context.Context, _ int, args ...string) (commands.Reply, error) {
			asked++
			time.Sleep(100 * time.Millisecond)
			if want := "LOCK LIST COUNT 50 CURSOR " + fmt.Sprint(asked-1) + " MATCH zz*"; strings.Join(args, " ") != want {
				t.Errorf("asked %q, want %q", args, want)
			}
			return commands.Array(commands.Bulk(fmt.Sprint(asked)), commands.Array()), nil
		}
		l, err := listLocks(t.Context(), slow, []int{4}, page.Query{DB: 4, Count: 50, Pattern: "zz*"})
		if err != nil || asked != 30 || l.Next != "4:30" || l.Note == "" {
			t.Errorf("asked %d times, %+v, %v", asked, l, err)
		}
	})
}

func TestWhatIsRefusedIsAnErrorOfItsKind(t *testing.T) {
	for reply, want := range map[string]error{
		"NOQUORUM 1 of 3 masters can vote, 2 are needed: 2 down": page.ErrNoQuorum,
		"ERR it is held by another one by now, see LOCK INFO":    page.ErrNotNow,
	} {
		err := refusalOf(commands.Error(reply))
		if !errors.Is(err, want) || !strings.Contains(err.Error(), reply[4:]) {
			t.Errorf("%s: %v", reply, err)
		}
		failing := func(context.Context, int, ...string) (commands.Reply, error) { return commands.Reply{}, err }
		if _, got := listLocks(t.Context(), failing, []int{0}, page.Query{Count: 1}); !errors.Is(got, want) {
			t.Errorf("%s, in a list: %v", reply, got)
		}
	}
	if err := refusalOf(commands.OK); err != nil {
		t.Errorf("OK: %v", err)
	}
}
