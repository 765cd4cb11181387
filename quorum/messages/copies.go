package messages

import "container/list"

// The bounds of what is remembered of delivered messages. A copy that comes
// more than windowSize messages of its sender late is taken for one that was
// seen: better a lost message than one that is delivered twice.
const (
	windowSize = 1 << 15
	maxSenders = 1024
)

// copies tells the first copy of a message of another proxy from the others. Of senders the one
// that was silent longest is forgotten.
type copies struct {
	bySender map[string]*list.Element // of *window
	order    list.List                // heard last first
}

// first tells whether this is the first copy of a message.
func (c *copies) first(sender string, number uint64) bool {
	if e := c.bySender[sender]; e != nil {
		c.order.MoveToFront(e)
		return e.Value.(*window).first(number)
	}
	if c.bySender == nil {
		c.bySender = make(map[string]*list.Element)
	}
	if c.order.Len() >= maxSenders {
		oldest := c.order.Remove(c.order.Back()).(*window)
		delete(c.bySender, oldest.sender)
	}
	w := &window{sender: sender, last: number}
	c.bySender[sender] = c.order.PushFront(w)
	return w.first(number)
}

// window is what was seen of one sender's latest messages: a bit for each of
// the windowSize numbers up to last.
type window struct {
	sender string
	last   uint64
	bits   [windowSize / 64]uint64
}

func (w *window) first(number uint64) bool {
	switch {
	case number > w.last:
		if number-w.last >= windowSize {
			clear(w.bits[:])
		} else {
			for n := w.last + 1; n < number; n++ {
				word, bit := place(n)
				w.bits[word] &^= bit
			}
			word, bit := place(number)
			w.bits[word] &^= bit
		}
		w.last = number
	case w.last-number >= windowSize:
		return false
	}
	word, bit := place(number)
	first := w.bits[word]&bit == 0
	w.bits[word] |= bit
	return first
}

func place(number uint64) (word int, bit uint64) {
	n := number % windowSize
	return int(n / 64), 1 << (n % 64)
}
