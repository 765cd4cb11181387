package proxy

// slotLine is slots in an order. A slot is in one line at a time.
type slotLine struct{ head, tail *slot }

func (l *slotLine) push(s *slot) {
	if l.tail == nil {
		l.head = s
	} else {
		l.tail.next = s
	}
	l.tail = s
}

// pop removes the first slot, which there must be.
func (l *slotLine) pop() *slot {
	s := l.head
	l.head, s.next = s.next, nil
	if l.head == nil {
		l.tail = nil
	}
	return s
}

// before is the one in front of another that is in the line, nil if that is the first.
func (l *slotLine) before(s *slot) (p *slot) {
	for q := l.head; q != s; q = q.next {
		p = q
	}
	return p
}
