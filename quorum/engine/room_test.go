package engine

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// endless is a connection on which a text comes again and again.
type endless struct {
	chunked
	begins, goesOn string
	left           int
}

func (c *endless) Read(p []byte) (n int, err error) {
	for n < len(p) && (len(c.begins) > 0 || c.left > 0) {
		if len(c.begins) == 0 {
			c.begins = c.goesOn[:min(len(c.goesOn), c.left)]
			c.left -= len(c.begins)
		}
		m := copy(p[n:], c.begins)
		c.begins = c.begins[m:]
		n += m
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Whatever a master says, no more of it is handed on than there is room for, and the room is
// as large as before when it is over.
func TestAMasterThatLiesIsHeldToItsRoom(t *testing.T) {
	const most = 1 << 20
	long := strings.Repeat("x", 60<<10)
	for name, lie := range map[string]*endless{
		"a string of 512 MiB":             {begins: "$536870912\r\n", goesOn: long, left: 8 << 20},
		"a string in an array":            {begins: "*2\r\n:1\r\n$536870912\r\n", goesOn: long, left: 8 << 20},
		"an array of many strings":        {begins: "*4096\r\n", goesOn: bulk(long), left: 16 << 20},
		"an array of many lines":          {begins: "*4096\r\n", goesOn: "+" + long + "\r\n", left: 16 << 20},
		"an array of many errors":         {begins: "*4096\r\n", goesOn: "-ERR " + long + "\r\n", left: 16 << 20},
		"arrays in an array":              {begins: "*4096\r\n", goesOn: "*4096\r\n" + strings.Repeat(":1\r\n", 4095), left: 16 << 20},
		"arrays that end in arrays":       {goesOn: "*4096\r\n" + strings.Repeat(":1\r\n", 4095), left: 16 << 20},
		"arrays of one without end":       {goesOn: "*1\r\n", left: 16 << 20},
		"arrays of two without end":       {goesOn: "*2\r\n", left: 16 << 20},
		"many replies of somewhat less":   {goesOn: bulk(long[:32<<10]), left: 16 << 20},
		"many replies that are just long": {goesOn: bulk(long[:small]), left: 8 << 20},
		"a map":                           {goesOn: "%1000000\r\n+a\r\n+b\r\n", left: 1 << 20},
		"a push":                          {goesOn: ">1000000\r\n+message\r\n", left: 1 << 20},
		"huge counts":                     {goesOn: "*9223372036854775807\r\n", left: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			g := &guard{Conn: lie, room: &room{most: most}}
			g.expect(4000)
			handed, peak := 0, int64(0)
			for p := make([]byte, 64<<10); ; {
				n, err := g.Read(p)
				handed += n
				peak = max(peak, g.room.used.Load())
				if err != nil {
					break
				}
			}
			if handed > most+most/4 || peak > most+most/4 {
				t.Errorf("%d bytes were handed on, and %d of the room taken", handed, peak)
			}
			g.giveAll()
			if used := g.room.used.Load(); used != 0 {
				t.Errorf("%d bytes are taken when the link has ended", used)
			}
		})
	}
}

// What there is no room for is replaced, and what is around it is as it was; and what it has
// cost is what is given back.
func TestWhatIsLeftOutIsAnErrorInItsPlace(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	many := "*1000\r\n" + strings.Repeat(":7\r\n", 1000)
	for _, test := range []struct{ sent, came string }{
		{bulk(long) + "+OK\r\n", "-TOOLONG 102400 bytes are more than there is room for\r\n+OK\r\n"},
		{array(bulk("a"), bulk(long), bulk("b")) + ":1\r\n", array(bulk("a"), "-TOOLONG 102400 bytes are more than there is room for\r\n", bulk("b")) + ":1\r\n"},
		{array(bulk(long), bulk(long)), array("-TOOLONG 102400 bytes are more than there is room for\r\n", "-TOOLONG 102400 bytes are more than there is room for\r\n")},
		{"+" + long[:60<<10] + "\r\n-ERR " + long[:60<<10] + "\r\n", "-TOOLONG 61440 bytes are more than there is room for\r\n-TOOLONG 61444 bytes are more than there is room for\r\n"},
		{many + bulk("a"), "-TOOLONG 128000 bytes are more than there is room for\r\n" + bulk("a")},
		{array(many, array(many, bulk(long)), bulk("b")) + bulk(""), array("-TOOLONG 128000 bytes are more than there is room for\r\n", array("-TOOLONG 128000 bytes are more than there is room for\r\n", "-TOOLONG 102400 bytes are more than there is room for\r\n"), bulk("b")) + bulk("")},
		{array("*2\r\n*1000\r\n" + strings.Repeat("*1\r\n"+bulk("c"), 1000) + bulk("d")), array("*2\r\n-TOOLONG 128000 bytes are more than there is room for\r\n" + bulk("d"))},
		{bulk(long[:10<<10]) + bulk(long), bulk(long[:10<<10]) + "-TOOLONG 102400 bytes are more than there is room for\r\n"},
	} {
		for _, size := range []int{1, 7, 1000, 1 << 20} {
			g := &guard{Conn: &chunked{data: []byte(test.sent), sizes: func() int { return size }}, room: &room{most: 50 << 10}}
			g.expect(2)
			got, err := io.ReadAll(g)
			if err != nil || string(got) != test.came {
				t.Fatalf("%.60q in pieces of %d came through as %.200q, %v", test.sent, size, got, err)
			}
		}
	}
}

func TestTheRoomThatRepliesTakeIsGivenBack(t *testing.T) {
	r := seeded(t)
	for range 2000 {
		var data []byte
		n := 1 + r.IntN(4)
		for range n {
			switch r.IntN(3) {
			case 0:
				data = append(data, bulk(strings.Repeat("x", r.IntN(20<<10)))...)
			case 1:
				data = append(data, array(bulk(strings.Repeat("y", r.IntN(20<<10))), array(randomReply(r, 3), bulk(strings.Repeat("z", r.IntN(20<<10)))))...)
			default:
				data = append(data, randomReply(r, 3)...)
			}
		}
		g := &guard{Conn: &chunked{data: data, sizes: func() int { return 1 + r.IntN(9000) }}, room: &room{most: 24 << 10}}
		g.expect(n)
		in := bufio.NewReader(g)
		link := &link{guard: g}
		cost := 0
		for range n {
			m, err := readMessage(in)
			if err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			cost += m.cost()
		}
		link.guard.give(cost)
		if used := g.room.used.Load(); used != 0 {
			t.Fatalf("%q: %d bytes are taken that were given back", data, used)
		}
	}
}

// readMessage reads an answer as rueidis would.
func readMessage(r *bufio.Reader) (a answer, err error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return a, err
	}
	text, n := line[1:len(line)-2], 0
	switch line[0] {
	case '+':
		return answer{kind: quorum.BulkReply, str: text}, nil
	case '-':
		return answer{kind: quorum.FailureReply, str: text}, nil
	case ':':
		return answer{kind: quorum.IntegerReply}, nil
	}
	if _, err := fmt.Sscan(text, &n); err != nil || n < 0 {
		return answer{kind: quorum.NilReply}, err
	}
	if line[0] == '$' {
		b := make([]byte, n+2)
		_, err := io.ReadFull(r, b)
		return answer{kind: quorum.BulkReply, str: string(b[:n])}, err
	}
	a.elems = make([]answer, n)
	for i := range a.elems {
		if a.elems[i], err = readMessage(r); err != nil {
			return a, err
		}
	}
	return a, nil
}

// Many values of which nothing is known are more than there is room for at once. All are told,
// as those that were left out are asked for again, and none takes part in two answers.
func TestLongValuesOfWhichNothingIsKnownAreTold(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		long := strings.Repeat("v", 300<<10)
		for _, m := range w.masters {
			for i := range 60 {
				m.put(fmt.Sprint("k", i), long+fmt.Sprint(i), 0)
			}
			m.freeze()
		}
		var all []*waiter
		for i := range 60 {
			all = append(all, w.put(quorum.Request{Kind: quorum.Read, Key: fmt.Sprint("k", i), ValueOnly: i%2 == 0}))
		}
		lock := w.put(quorum.Request{Kind: quorum.Acquire, Key: "lock", Token: "t", TTL: time.Minute})
		for _, m := range w.masters {
			m.unfreeze()
		}
		for i, a := range all {
			if r := a.wait(t); r.Decision != quorum.Won || r.Value != long+fmt.Sprint(i) {
				t.Errorf("k%d: %v of %d bytes", i, r.Decision, len(r.Value))
			}
		}
		w.want(lock.wait(t), quorum.Won)
		if n := w.engine.Memory(); n != 0 {
			t.Errorf("%d bytes are taken when all is told", n)
		}
	}, func(c *Config) { c.Memory = 1 }) // the least room
}

// A value that there is no room for at all has no master vote on it, and keeps nobody else
// from being served on the same links.
func TestAValueThatThereIsNoRoomForHarmsNobodyElse(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		huge := strings.Repeat("v", leastRoom+1)
		for _, m := range w.masters {
			m.put("huge", huge, 0)
		}
		for _, ask := range []quorum.Request{
			{Kind: quorum.Read, Key: "huge", ValueOnly: true},
			{Kind: quorum.Read, Key: "huge"},
		} {
			w.put(ask)
			w.want(w.ask(quorum.Request{Kind: quorum.Read, Key: "small", ValueOnly: true}), quorum.Won)
		}
		w.want(w.ask(quorum.Request{Kind: quorum.Read, Key: "huge", ValueOnly: true}), quorum.Unavailable)
		w.want(w.ask(quorum.Request{Kind: quorum.Acquire, Key: "huge", Token: "t", TTL: time.Minute}), quorum.Contended)
		w.put(quorum.Request{Kind: quorum.Write, Key: "huge", Args: []string{"SET", "huge", "v"}}) // which tells what was there
		w.want(w.ask(quorum.Request{Kind: quorum.Read, Key: "small", ValueOnly: true}), quorum.Won)
		for _, m := range w.engine.Status().Masters {
			if m.Reconnects != 0 {
				t.Errorf("the link to %s has ended", m.Name)
			}
		}
	}, func(c *Config) { c.Memory = 1 })
}

// A master that lies fills its own room, and nobody else's.
func TestAMasterThatLiesIsOutvoted(t *testing.T) {
	for name, lie := range map[string]string{
		"a long string":   bulk(strings.Repeat("x", leastRoom+1)),
		"a long array":    array(bulk(strings.Repeat("x", leastRoom)), bulk(strings.Repeat("y", leastRoom))),
		"arrays in array": "*4096\r\n" + strings.Repeat("*4096\r\n"+strings.Repeat(":1\r\n", 4096), 16),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.masters[0].set(func(m *fakeMaster) {
					m.respond = func(args []string) string {
						if args[0] == "GET" || args[0] == "SET" || args[0] == "EVALSHA" {
							return lie
						}
						return ""
					}
				})
				for i := range 20 {
					key := fmt.Sprint("k", i)
					w.want(w.ask(quorum.Request{Kind: quorum.Acquire, Key: key, Token: "t", TTL: time.Minute}), quorum.Won)
					w.want(w.ask(quorum.Request{Kind: quorum.Read, Key: key, ValueOnly: true}), quorum.Won)
					w.want(w.ask(quorum.Request{Kind: quorum.Release, Key: key, Token: "t"}), quorum.Won)
					if n := w.engine.Masters[0].rooms.used(); n > 2*leastRoom {
						t.Fatalf("the master has %d bytes held", n)
					}
				}
			}, func(c *Config) { c.Memory = 1 })
		})
	}
}

// What is to be taken back is bounded in bytes. What does not fit is left to its ttl, and told.
func TestWhatIsToBeTakenBackIsBoundedInBytes(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		l := w.engine.lanes[0]
		l.mu.Lock()
		n := l.nonce
		l.mu.Unlock()
		w.masters[0].freeze()
		now := time.Now()
		undo := func(i int) {
			l.undo(debt{key: fmt.Sprint("k", i), value: strings.Repeat("t", 1<<20), nonce: n, eternal: true, dies: now.Add(time.Minute)}, now)
		}
		const all = 3 * leastRoom >> 20
		for i := range all {
			undo(i)
		}
		if used := l.master.rooms.errands.used.Load(); used > leastRoom || used < leastRoom/2 {
			t.Errorf("%d bytes wait", used)
		}
		if missed := l.missed.Load(); missed < all/2 {
			t.Errorf("%d of %d were left out", missed, all)
		}
		w.masters[0].unfreeze()
		time.Sleep(time.Second)
		if used := l.master.rooms.errands.used.Load(); used != 0 {
			t.Errorf("%d bytes are taken when nothing waits", used)
		}
		undo(all)
		time.Sleep(time.Second)
		if missed := w.engine.Status().UndosMissed; missed > all {
			t.Errorf("%d were left out, though there was room", missed)
		}
	}, func(c *Config) { c.Memory = 1 })
}

// Debts share a room, whatever database they are of.
func TestDebtsOfAllDatabasesAreBoundedTogether(t *testing.T) {
	shared := &room{most: 1 << 20}
	now := time.Now()
	lists := []debts{{room: shared}, {room: shared}}
	dropped := 0
	for i := range 40 {
		dropped += lists[i%2].add(debt{key: fmt.Sprint(i), value: strings.Repeat("t", 100<<10), dies: now.Add(time.Minute)}, now)
	}
	if used := shared.used.Load(); used > shared.most || dropped+lists[0].len()+lists[1].len() != 40 {
		t.Errorf("%d bytes are owed, %d were dropped", used, dropped)
	}
	for i := range lists {
		lists[i].expire(now.Add(time.Hour))
	}
	if used := shared.used.Load(); used != 0 {
		t.Errorf("%d bytes are taken by nothing", used)
	}
}

// What is remembered by name does not grow with the names.
func TestLongNamesAreNotRememberedInFull(t *testing.T) {
	now, long := time.Now(), strings.Repeat("k", 1<<20)
	var b behind
	r := &undoRecord{before: "a", after: "a"}
	b.still(long, 0, r, now, time.Second)
	for id := range b.since {
		if len(id.key) > 100 {
			t.Errorf("a name of %d bytes is kept", len(id.key))
		}
	}
	if !b.still(long, 0, r, now.Add(time.Second), time.Second) {
		t.Error("it is not known again")
	}
	if b.caughtUp(long, 0); len(b.since) != 0 {
		t.Error("it is not forgotten")
	}
	h := holds{most: time.Hour}
	for i := range 100 {
		h.begin(&quorum.Request{Key: fmt.Sprint(long, i), Token: "t"}, time.Minute, now)
	}
	if h.bytes > maxHoldBytes || len(h.byKey) < 10 {
		t.Errorf("%d locks of %d bytes are remembered", len(h.byKey), h.bytes)
	}
	for key := range h.byKey {
		h.end(&quorum.Request{Kind: quorum.Remove, Key: key})
	}
	if h.bytes != 0 {
		t.Errorf("%d bytes are counted of nothing", h.bytes)
	}
}
