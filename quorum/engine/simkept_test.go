package engine_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"redlock-proxy/quorum"
)

// Clients that keep what they have read, until they are told that it has changed, and those who change it.

// tracker is one that keeps.
type tracker struct {
	*client
	number, at int
	options    string
	replies    chan value

	mu   sync.Mutex // guards what follows
	asks string     // the key that is asked for, "" if none is
	kept map[string]kept
}

type kept struct {
	value value
	at    time.Time // it was answered
}

// writing is a write that was answered.
type writing struct {
	value           value
	begun, answered time.Time
}

// value is a reply, or what is told.
type value struct {
	kind byte
	text string
}

func (v value) String() string { return string(v.kind) + v.text }

// tracker is a client who reads now and then.
func (p *play) tracker(c, at int, r *rand.Rand) {
	t := &tracker{client: p.dials(at), number: c, at: at, replies: make(chan value, 1), kept: make(map[string]kept)}
	t.options = []string{"", "", "BCAST", "NOLOOP"}[r.IntN(4)]
	if t.send([]string{"HELLO", "3"}) != nil {
		return
	}
	in := bufio.NewReader(t.conn)
	t.read(in)
	t.send(append([]string{"CLIENT", "TRACKING", "ON"}, strings.Fields(t.options)...))
	if v, _, _ := t.read(in); v.text != "OK" {
		p.t.Errorf("CLIENT TRACKING ON is answered with %v", v)
		return
	}
	p.mu.Lock()
	p.trackers = append(p.trackers, t)
	p.mu.Unlock()
	go t.listens(p, in)
	for n := 0; p.goes(); n++ {
		time.Sleep(upTo(r, 150))
		key := valueKeys[r.IntN(len(valueKeys))]
		argv := []string{"GET", key}
		if r.IntN(8) == 0 {
			argv = []string{"SET", key, fmt.Sprintf("%d.%d", c, n), "PX", "60000"}
		}
		t.mu.Lock()
		t.asks = key
		if argv[0] == "SET" { // what there is now, it knows itself
			delete(t.kept, key)
			t.asks = " "
		}
		t.mu.Unlock()
		if t.send(argv) != nil {
			return
		}
		if _, ok := <-t.replies; !ok {
			return
		}
	}
}

// listens takes in what the client is answered and told.
func (t *tracker) listens(p *play, in *bufio.Reader) {
	defer close(t.replies)
	for {
		v, told, err := t.read(in)
		if err != nil {
			return
		}
		t.mu.Lock()
		switch {
		case v.kind != '>':
			if v.kind == '$' || v.kind == '_' {
				p.stage.Note(t.asks, "client %d keeps %v", t.number, v)
				t.kept[t.asks] = kept{v, time.Now()}
			}
			t.asks = ""
			t.replies <- v
		case told[0].text != "invalidate":
			p.t.Errorf("%v is told", told)
		case len(told) == 2: // all
			p.stage.Note(" ", "client %d is told of all", t.number)
			clear(t.kept)
		default:
			for _, key := range told[2:] {
				if _, there := t.kept[key.text]; there {
					p.stage.Note(key.text, "client %d is told of it", t.number)
					delete(t.kept, key.text)
				}
			}
		}
		t.mu.Unlock()
	}
}

// read reads one value of RESP3, with all that are in it.
func (t *tracker) read(in *bufio.Reader) (v value, within []value, err error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return v, nil, err
	}
	v.kind, v.text = line[0], strings.TrimSpace(line[1:])
	n, _ := strconv.Atoi(v.text)
	switch v.kind {
	case '$':
		text := make([]byte, n+2)
		_, err = io.ReadFull(in, text)
		v.text = string(text[:n])
	case '%':
		n *= 2
		fallthrough
	case '*', '>':
		for range n {
			inner, more, err := t.read(in)
			if err != nil {
				return v, nil, err
			}
			within = append(append(within, inner), more...)
		}
	}
	return v, within, err
}

// writer changes what others keep.
func (p *play) writer(c, at int, r *rand.Rand) {
	conn := p.dials(at)
	for n := 0; p.goes(); n++ {
		time.Sleep(upTo(r, 250))
		key, name := valueKeys[r.IntN(len(valueKeys))], fmt.Sprintf("%d.%d", c, n)
		begun := time.Now()
		argv := []string{"SET", key, name, "PX", strconv.Itoa(300 + r.IntN(2)*60_000)}
		switch r.IntN(6) {
		case 0:
			argv = []string{"DEL", key}
		case 1:
			if p.stage.Tells {
				p.stage.Deletes(key)
				continue
			}
		}
		_, d := conn.asks(argv)
		p.stage.Note(key, "client %d has done %q: %v", c, argv, d)
		if d != quorum.Won {
			continue
		}
		w := writing{value{kind: '$', text: name}, begun, time.Now()}
		if argv[0] == "DEL" {
			w.value = value{kind: '_'}
		}
		p.mu.Lock()
		p.written[key] = w
		p.mu.Unlock()
		time.Sleep(time.Millisecond) // the client reads
		p.old(key, w, func(t *tracker) bool { return t.at == at })
	}
}

// old looks for values that were kept before a write began, and so should be no more.
func (p *play) old(key string, w writing, which func(*tracker) bool) {
	p.mu.Lock()
	trackers := p.trackers
	p.mu.Unlock()
	for _, t := range trackers {
		t.mu.Lock()
		k, is := t.kept[key]
		idle := t.asks == ""
		t.mu.Unlock()
		if is && idle && k.value != w.value && k.at.Before(w.begun) && which(t) {
			p.stage.Broken(key, "client %d (%s) keeps %v of %s from %v, which was changed from %v on",
				t.number, t.options, k.value, key, k.at.Sub(p.began), w.begun.Sub(p.began))
		}
	}
}

// keepNothingOld looks for what was changed some time ago, at any proxy.
func (p *play) keepNothingOld() {
	for _, key := range valueKeys {
		p.mu.Lock()
		w, is := p.written[key]
		p.mu.Unlock()
		if is && time.Since(w.answered) > p.bound(w.begun, promptTime) {
			p.old(key, w, func(*tracker) bool { return true })
		}
	}
}

// nothingIsStale reads what is kept, when all is quiet.
func (p *play) nothingIsStale() {
	for at := range p.fronts {
		conn := p.dials(at)
		for _, key := range valueKeys {
			reply, d := conn.asks([]string{"GET", key})
			is := value{kind: '_'}
			if reply.Data != nil {
				is = value{kind: '$', text: string(reply.Data)}
			}
			if d != quorum.Won {
				p.stage.Broken(key, "%s cannot be read: %s", key, reply.Data)
			}
			for _, t := range p.trackers {
				t.mu.Lock()
				if k, there := t.kept[key]; there {
					if p.kept++; k.value != is && t.at == at {
						p.stage.Broken(key, "client %d (%s) keeps %v of %s, which is %v", t.number, t.options, k.value, key, is)
					}
				}
				t.mu.Unlock()
			}
		}
	}
}
