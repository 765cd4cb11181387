package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/tidwall/redcon"

	"redlock-proxy/quorum"
)

// The clients that wait, for elements and for locks, and those that they wait for.

func upTo(r *rand.Rand, n int) time.Duration { return time.Duration(1+r.IntN(n)) * time.Millisecond }

// popper waits for elements. Now and then it has gone when one comes.
func (p *play) popper(c, at int, r *rand.Rand) {
	for p.goes() || p.drains() {
		conn := p.dials(at)
		for n := r.IntN(20); n >= 0 && (p.goes() || p.drains()); n-- {
			keys := [][]string{{"{t}r"}, {"p"}, {"{t}r", "{t}q"}, {"p", "{t}r"}}[r.IntN(4)]
			wait := []string{"0", "0.05", "0.7", "2"}[r.IntN(4)]
			if r.IntN(12) == 0 {
				time.AfterFunc(upTo(r, 1000), func() { conn.conn.Close() })
			}
			p.waits(c, true, keys...)
			reply, d := conn.asks(append(append([]string{"BLPOP"}, keys...), wait))
			p.waits(c, false, keys...)
			if d == quorum.Unavailable {
				p.mayHave(reply)
				break
			}
			if reply.Count == 2 {
				both := elementsOf(reply)
				p.takes(c, both[0], both[1])
				p.does("LMPOP", both[1])
			}
			time.Sleep(upTo(r, 60))
		}
		conn.conn.Close()
		time.Sleep(upTo(r, 60))
	}
}

// drains tells that there is something yet for those who wait, at the end.
func (p *play) drains() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.since != nil && !p.t.Failed()
}

// mover waits for elements that it gives to another list.
func (p *play) mover(c, at int, r *rand.Rand) {
	conn := p.dials(at)
	for p.goes() || p.drains() {
		p.waits(c, true, "{t}q")
		reply, d := conn.asks([]string{"BLMOVE", "{t}q", "{t}r", "LEFT", "RIGHT", "1"})
		p.waits(c, false, "{t}q")
		switch {
		case d == quorum.Unavailable && reply.Type == 0:
			return
		case d == quorum.Unavailable:
			p.mayHave(reply)
		case reply.Type == redcon.Bulk:
			p.does("LMOVE", string(reply.Data))
			p.serves("{t}q", false, "")
		}
		time.Sleep(upTo(r, 20))
	}
}

// pusher pushes elements, while they are taken.
func (p *play) pusher(c, at int, r *rand.Rand) {
	conn := p.dials(at)
	for n := 0; p.goes(); n++ {
		time.Sleep(upTo(r, 200))
		key := []string{"{t}q", "{t}r", "p"}[r.IntN(3)]
		argv := []string{"RPUSH", key}
		for i := range 1 + r.IntN(8)/6 {
			name := fmt.Sprintf("%d.%d.%d", c, n, i)
			argv = append(argv, name)
			p.mu.Lock()
			p.elements[name] = &element{key: key}
			p.mu.Unlock()
		}
		reply, d := conn.asks(argv)
		p.stage.Note(key, "client %d pushes %q: %v", c, argv[2:], d)
		if d == quorum.Unavailable {
			p.mayHave(reply)
			continue
		}
		p.mu.Lock()
		for _, name := range argv[2:] {
			p.elements[name].pushed = true
		}
		p.mu.Unlock()
		p.does("RPUSH", argv[2])
	}
}

// mayHave notes a command on lists that was not answered, or with an error.
func (p *play) mayHave(reply redcon.RESP) {
	if reply.Type == 0 {
		return // its client has gone: what it was to get is put back
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unknown++
}

func (p *play) does(what, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done[what+" "+name] = true
}

// takes notes that a client has got an element.
func (p *play) takes(c int, key, name string) {
	p.stage.Note(key, "client %d takes %s", c, name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since != nil {
		delete(p.since, key)
	}
	p.taken++
	e := p.elements[name]
	if e == nil {
		p.stage.Broken(key, "client %d has got %q, which nobody has pushed", c, name)
		return
	}
	if e.taken++; e.taken > 1 && !p.stage.Forgets {
		p.stage.Broken(key, "client %d has got %s, which another one has had", c, name)
	}
}

// locker takes a lock, waiting for it, and lets go of it in some way.
func (p *play) locker(c, at int, r *rand.Rand) {
	conn := p.dials(at)
	for n := 0; p.goes(); n++ {
		time.Sleep(upTo(r, 400))
		key, token := lockKeys[r.IntN(len(lockKeys))], fmt.Sprintf("c%d.%d", c, n)
		ttl := upTo(r, 1500) + 100*time.Millisecond
		p.waits(c, true, key)
		reply, d := conn.asks([]string{"SET", key, token, "NX", "PX", strconv.FormatInt(ttl.Milliseconds(), 10)})
		p.waits(c, false, key)
		p.stage.Note(key, "client %d locks it as %s for %v: %v %q", c, token, ttl, d, reply.Data)
		if d != quorum.Won || reply.Data == nil {
			continue
		}
		p.serves(key, false, "")
		time.Sleep(upTo(r, 100))
		switch how := r.IntN(8); {
		case how == 0: // it ends by itself
		case how == 1 && p.stage.Tells:
			p.stage.Deletes(key)
		case how < 4:
			conn.asks([]string{"DEL", key})
		default:
			conn.asks([]string{"EVAL", release, "1", key, token})
		}
		p.stage.Note(key, "client %d has let go of %s", c, token)
	}
}

// asks is call of one command. The reply of what was not answered is of no type.
func (c *client) asks(argv []string) (redcon.RESP, quorum.Decision) {
	replies, d := c.call(argv)
	if len(replies) == 0 {
		return redcon.RESP{}, quorum.Unavailable
	}
	return replies[0], d
}

func elementsOf(array redcon.RESP) (list []string) {
	array.ForEach(func(r redcon.RESP) bool {
		list = append(list, string(r.Data))
		return true
	})
	return list
}
