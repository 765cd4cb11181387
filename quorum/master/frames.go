package master

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"redlock-proxy/quorum/decide"
)

// Limits on what a master may send. The commands that we send have small
// replies, but for the values that clients themselves have stored.
const (
	maxReplyBulk  = 512 << 20 // Redis's own limit
	maxReplyDepth = 1024      // of arrays in arrays, each of which takes stack to read
	maxPageElems  = 64 << 10  // of a survey: some masters tell all keys at once
	maxReplyLine  = 64 << 10
)

var (
	errSurplus = errors.New("the master sent a reply that nobody asked for")

	// ErrGarbage ends a connection.
	ErrGarbage = errors.New("the master sent what is no RESP2")
)

// frames follows the replies of a master, in whatever pieces they come: how many were asked
// for, and where each value begins and ends.
type frames struct {
	expected atomic.Int64 // replies that are to come
	most     atomic.Int32 // values in one array; 0 is decide.MaxElems
	elems    int          // of the reply being read: values still to come, 0 between replies
	open     []int32      // and the same of each array that it is in
	skip     int64        // bytes of a bulk string and its line end still to come
	drops    bool         // they are thrown away
	dropped  int          // how deep the array is that is thrown away; 0 if none is
	line     []byte       // of which the end is still to come
	buf      []byte       // the memory for what is handed on otherwise than it came
	bill
}

// expect tells it that n commands are about to be sent.
func (f *frames) expect(n int) { f.expected.Add(int64(n)) }

// allow tells it whether there are surveys among the next commands.
func (f *frames) allow(surveys bool) {
	most := int32(decide.MaxElems)
	if surveys {
		most = maxPageElems
	}
	f.most.Store(most)
}

// follow follows the replies in p, and returns what is to be handed on: a
// beginning of p as it is, or else a piece of memory of its own.
func (f *frames) follow(p []byte) ([]byte, error) {
	out := passage{of: p, buf: f.buf[:0]}
	for rest := p; len(rest) > 0; {
		at := len(p) - len(rest)
		if f.skip > 0 {
			n := int(min(f.skip, int64(len(rest))))
			if !f.drops {
				out.pass(at, n)
			}
			f.skip -= int64(n)
			rest = rest[n:]
			if f.skip == 0 {
				f.value()
			}
			continue
		}
		if f.expected.Load() == 0 {
			return nil, errSurplus
		}
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			if len(f.line)+len(rest) > maxReplyLine {
				return nil, ErrGarbage
			}
			f.line = append(f.line, rest...)
			if bytes.IndexByte([]byte("+-:$*"), f.line[0]) < 0 {
				return nil, ErrGarbage // it may have no end
			}
			break
		}
		line := rest[:end+1]
		if len(f.line) > 0 {
			line = append(f.line, line...)
		}
		dropped := f.dropped > 0
		instead, err := f.header(line)
		switch {
		case err != nil:
			return nil, err
		case dropped:
		case instead != "":
			out.put([]byte(instead))
		case len(f.line) > 0:
			out.put(line)
		default:
			out.pass(at, len(line))
		}
		rest, f.line = rest[end+1:], f.line[:0]
	}
	if f.buf = out.buf[:0]; cap(f.buf) > maxReplyLine*2 {
		f.buf = nil
	}
	return out.kept(), nil
}

// header reads one line: a whole value, or the length of a string or an array. If instead is
// not empty it is handed on in the place of the line, and of what that announces.
func (f *frames) header(line []byte) (instead string, err error) {
	if len(line) < 3 || line[len(line)-2] != '\r' || len(line) > maxReplyLine {
		return "", ErrGarbage
	}
	text := line[1 : len(line)-2]
	switch line[0] {
	case '+', '-':
		if !f.fits(len(text)) {
			instead = f.leaveOut(len(text))
		}
		f.value()
		return instead, nil
	case ':':
		if _, err := strconv.ParseInt(string(text), 10, 64); err != nil {
			return "", ErrGarbage
		}
		f.value()
		return "", nil
	case '$', '*':
	default:
		return "", ErrGarbage
	}
	n, err := strconv.Atoi(string(text))
	switch {
	case err != nil || n < -1:
		return "", ErrGarbage
	case n == -1:
		f.value()
	case line[0] == '$':
		if n > maxReplyBulk {
			return "", fmt.Errorf("the master sent a string of %d bytes", n)
		}
		f.skip, f.drops = int64(n)+2, f.dropped > 0
		if !f.fits(n) {
			f.drops = true
			instead = f.leaveOut(n)
		}
	case n == 0:
		f.value()
	default:
		if most := max(int(f.most.Load()), decide.MaxElems); n > most || f.elems > most {
			return "", fmt.Errorf("the master sent an array of %d", n)
		}
		if len(f.open) >= maxReplyDepth {
			return "", errors.New("the master sent arrays in arrays without end")
		}
		f.open = append(f.open, int32(n))
		// The array itself is one of the values to come, n more follow.
		f.elems = max(f.elems, 1) + n - 1
		if !f.fits(n * elemSize) {
			f.dropped = len(f.open)
			instead = f.leaveOut(n * elemSize)
		}
	}
	return instead, nil
}

// fits takes the room for n bytes more, if there is so much. What is thrown away needs none.
func (f *frames) fits(n int) bool { return f.dropped > 0 || f.take(n) }

// leaveOut is what stands in the place of n bytes that are left out.
func (f *frames) leaveOut(n int) (instead string) {
	f.leavesOut.Store(true)
	text := decide.SaysTooLong(n)
	f.charge(len(text))
	return "-" + text + "\r\n"
}

// value notes that one value is complete, and each array that ends with it.
func (f *frames) value() {
	for i := len(f.open) - 1; i >= 0; i-- {
		if f.open[i]--; f.open[i] > 0 {
			break
		}
		f.open = f.open[:i]
	}
	if f.dropped > len(f.open) {
		f.dropped = 0
	}
	if f.elems > 1 {
		f.elems--
		return
	}
	f.elems = 0
	f.nextReply()
	f.expected.Add(-1)
}
