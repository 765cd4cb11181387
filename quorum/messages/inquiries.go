package messages

import (
	"slices"
	"sync"

	"redlock-proxy/quorum"
)

// Inquiries is a proxy's part in what proxies ask each other. Its methods may be called by several
// goroutines, Answer by one. What it decides hangs on no clock: how long is waited for answers,
// and how many are given in a second, is its caller's.
type Inquiries struct {
	sender string
	carry  func(letter string)
	due    chan struct{} // has room for one: a question is in line

	mu        sync.Mutex // guards what follows
	colleague quorum.Colleague
	number    uint64 // of the latest letter of ours
	copies    copies
	others    map[string]struct{} // the proxies that are there, as far as is known
	open      map[uint64]*Inquiry // by their questions' numbers
	askers    []*asker            // whose questions are in line, by whose turn it is
	bytes     int                 // of those questions
	closed    bool                // nothing is heard any more
}

// asker is another proxy whose questions wait to be answered.
type asker struct {
	name      string
	questions []letter
}

// The bounds of the questions that wait here. What comes when there is no room is not answered.
const (
	maxAskers    = 64
	maxQuestions = 16 // of one of them
	maxAsked     = 4 << 20
)

// NewInquiries are those of the proxy that calls itself sender, as to New. carry hands a letter on
// to all masters that can be reached, and waits for none of them.
func NewInquiries(sender string, carry func(letter string)) *Inquiries {
	return &Inquiries{
		sender: sender,
		carry:  carry,
		due:    make(chan struct{}, 1),
		others: make(map[string]struct{}),
		open:   make(map[uint64]*Inquiry),
	}
}

// Consult says who answers from now on, nil that nobody does. The others are told so, as they are
// told of each question that has no answer: else they would wait for it.
func (q *Inquiries) Consult(c quorum.Colleague) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.colleague = c
}

// Greet tells the others that this proxy is there, unless it ends.
func (q *Inquiries) Greet() {
	q.mu.Lock()
	closed := q.closed
	q.mu.Unlock()
	if !closed {
		q.send(letter{})
	}
}

// Due is sent to when there are questions to answer.
func (q *Inquiries) Due() <-chan struct{} { return q.due }

// Answer answers the question that is next. It is false if there is none.
func (q *Inquiries) Answer() bool {
	asked, by, ok := q.next()
	if !ok {
		return false
	}
	text := ""
	if by != nil {
		text = by.Asked(asked.text)
	}
	if len(text) > quorum.MaxQuestion {
		text = ""
	}
	q.send(letter{asker: asked.sender, question: asked.number, text: text})
	return true
}

// Receive takes in what a master has sent on Channel, unless it is no letter, or one that has been
// taken in. It waits for nobody.
func (q *Inquiries) Receive(text string) {
	v, ok := parseLetter(text)
	if !ok || v.sender == q.sender {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || !q.copies.first(v.sender, v.number) {
		return
	}
	if len(q.others) < maxSenders {
		q.others[v.sender] = struct{}{}
	}
	switch {
	case v.asker == "" && v.text != "":
		q.line(v)
	case v.asker == q.sender:
		if i := q.open[v.question]; i != nil { // and not one that has ended
			i.take(v)
		}
	}
}

// Close has nothing be heard any more, and whoever waits for answers look.
func (q *Inquiries) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.askers = true, nil
	for _, i := range q.open {
		i.tell()
	}
}

func (q *Inquiries) send(v letter) {
	q.mu.Lock()
	q.number++
	v.sender, v.number = q.sender, q.number
	q.mu.Unlock()
	q.carry(v.String())
}

// line puts a question into the line, if there is room. mu is held.
func (q *Inquiries) line(v letter) {
	at := slices.IndexFunc(q.askers, func(a *asker) bool { return a.name == v.sender })
	switch {
	case q.bytes+len(v.text) > maxAsked:
		return
	case at < 0 && len(q.askers) < maxAskers:
		at = len(q.askers)
		q.askers = append(q.askers, &asker{name: v.sender})
	case at < 0 || len(q.askers[at].questions) >= maxQuestions:
		return
	}
	q.askers[at].questions = append(q.askers[at].questions, v)
	q.bytes += len(v.text)
	select {
	case q.due <- struct{}{}:
	default: // it is known that there are questions
	}
}

// next takes a question out of the line. Those who ask take turns, so that one who asks much waits
// for itself.
func (q *Inquiries) next() (v letter, by quorum.Colleague, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.askers) == 0 {
		return v, nil, false
	}
	a := q.askers[0]
	q.askers = q.askers[1:]
	v, a.questions = a.questions[0], a.questions[1:]
	q.bytes -= len(v.text)
	if len(a.questions) > 0 {
		q.askers = append(q.askers, a)
	}
	return v, q.colleague, true
}
