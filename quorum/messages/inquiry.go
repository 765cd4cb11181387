package messages

import (
	"maps"

	"redlock-proxy/quorum"
)

// maxAnswered is how long the answers to one question may be together, in bytes. Those that come
// when there is no room are left out.
const maxAnswered = 1 << 20

// Inquiry is a question that was asked, until it ends.
type Inquiry struct {
	of     *Inquiries
	number uint64
	news   chan struct{} // has room for one: somebody has answered

	// What follows is guarded by the lock of those that it is one of.
	awaited map[string]struct{} // who was there when it was asked, and has said nothing
	heard   map[string]struct{} // who has said something, if only that there is no answer
	answers []quorum.Answer
	bytes   int
}

// Ask asks all other proxies a question, which is not "" and of MaxQuestion bytes at most. The
// caller is to end it.
func (q *Inquiries) Ask(question string) *Inquiry {
	i := &Inquiry{of: q, news: make(chan struct{}, 1), heard: make(map[string]struct{})}
	q.mu.Lock()
	q.number++
	i.number = q.number
	i.awaited = maps.Clone(q.others)
	q.open[i.number] = i
	q.mu.Unlock()
	q.carry(letter{sender: q.sender, number: i.number, text: question}.String())
	return i
}

// News is sent to when there is something new to look at.
func (i *Inquiry) News() <-chan struct{} { return i.news }

// Look tells how many answers have come, and of how many proxies that are there something is
// still to come.
func (i *Inquiry) Look() (answers, awaited int) {
	i.of.mu.Lock()
	defer i.of.mu.Unlock()
	return len(i.answers), len(i.awaited)
}

// End ends the inquiry and is what was answered. If there was time to answer, whoever has said
// nothing is there no more, as far as is known.
func (i *Inquiry) End(hadTime bool) []quorum.Answer {
	i.of.mu.Lock()
	defer i.of.mu.Unlock()
	delete(i.of.open, i.number)
	if hadTime {
		for name := range i.awaited {
			delete(i.of.others, name)
		}
	}
	return i.answers
}

// take takes an answer in. The lock is held, as by tell.
func (i *Inquiry) take(v letter) {
	if _, again := i.heard[v.sender]; again || len(i.heard) >= maxSenders {
		return
	}
	i.heard[v.sender] = struct{}{}
	delete(i.awaited, v.sender)
	if v.text != "" && i.bytes+len(v.text) <= maxAnswered {
		i.bytes += len(v.text)
		i.answers = append(i.answers, quorum.Answer{Proxy: v.sender, Text: v.text})
	}
	i.tell()
}

func (i *Inquiry) tell() {
	select {
	case i.news <- struct{}{}:
	default: // it has not looked since
	}
}
