package main

import "bytes"

// client is one that asks.
type client struct {
	fd   int
	gone bool
	kept []byte // the beginning of a command
	out  []byte // the answers of this round
}

func (c *client) take(f *floor, p []byte) {
	if len(c.kept) > 0 {
		c.kept = append(c.kept, p...)
		p = c.kept
	}
	for {
		n, name := command(p)
		if n == 0 {
			break
		}
		if answer := own(name); answer != "" {
			f.answer(c, answer)
		} else {
			f.asked = append(f.asked, p[:n]...)
			f.questions = append(f.questions, question{of: c})
		}
		p = p[n:]
	}
	c.kept = append(c.kept[:0], p...)
}

func (f *floor) answer(c *client, line string) {
	if len(c.out) == 0 {
		f.answered = append(f.answered, c)
	}
	c.out = append(c.out, line...)
}

// own is the answer to what no master is asked.
func own(name []byte) string {
	switch string(name) {
	case "SET", "EVAL", "EVALSHA", "eval", "evalsha", "set":
		return ""
	case "HELLO", "hello":
		return "-ERR unknown command 'HELLO'\r\n"
	case "CONFIG": // which redis-benchmark asks for before it begins
		return "*0\r\n"
	}
	return "+OK\r\n"
}

// command is how many bytes the first command takes, 0 if it is not all there, and its name.
func command(p []byte) (n int, name []byte) {
	words, n := number(p, 0)
	for i := range words {
		var size int
		if size, n = number(p, n); n == 0 || n+size+2 > len(p) {
			return 0, nil
		}
		if i == 0 {
			name = p[n : n+size]
		}
		n += size + 2
	}
	return n, name
}

// number is that of a line that begins at a place with a letter, and where the next line is: 0 if it is
// not all there.
func number(p []byte, at int) (value, next int) {
	for i := at + 1; i+1 < len(p); i++ {
		if p[i] == '\r' {
			return value, i + 2
		}
		value = 10*value + int(p[i]-'0')
	}
	return 0, 0
}

// master is one that is asked.
type master struct {
	fd      int
	answers int // how many it has given
	kept    []byte
}

func (m *master) take(f *floor, p []byte) {
	if len(m.kept) > 0 {
		m.kept = append(m.kept, p...)
		p = m.kept
	}
	for {
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 {
			break
		}
		f.questions[m.answers-f.forgotten].vote(p[:end], len(f.masters))
		m.answers++
		p = p[end:]
	}
	m.kept = append(m.kept[:0], p...)
	f.tell()
}

// tell answers what is decided, in the order in which it was asked, and forgets what all have answered.
func (f *floor) tell() {
	for ; f.told-f.forgotten < len(f.questions) && f.questions[f.told-f.forgotten].decided != ""; f.told++ {
		q := &f.questions[f.told-f.forgotten]
		f.answer(q.of, q.decided)
	}
	all := f.told
	for _, m := range f.masters {
		all = min(all, m.answers)
	}
	if done := all - f.forgotten; done == len(f.questions) || done > 4096 {
		f.questions = append(f.questions[:0], f.questions[done:]...)
		f.forgotten = all
	}
}

// question is a command with the answers of the masters.
type question struct {
	of      *client
	votes   int
	first   string // answer
	same    int    // how many have given that
	others  string // the latest answer of those that gave another
	decided string // the answer to the client; "" until there is one
}

// vote counts an answer, which is a line, of one of n masters.
func (q *question) vote(line []byte, n int) {
	answer := known(line)
	q.votes++
	switch {
	case q.votes == 1:
		q.first, q.same = answer, 1
	case answer == q.first:
		q.same++
	default:
		q.others = answer
	}
	switch majority := n/2 + 1; {
	case q.decided != "":
	case q.same >= majority:
		q.decided = q.first
	case q.votes-q.same >= majority:
		q.decided = q.others
	}
}

// known is a line without memory of its own where it is a usual one.
func known(line []byte) string {
	for _, usual := range []string{"+OK\r\n", "$-1\r\n", ":1\r\n", ":0\r\n"} {
		if string(line) == usual {
			return usual
		}
	}
	return string(line)
}
