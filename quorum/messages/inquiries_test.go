package messages

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

// echo answers each question with itself, but for those that it has no answer to.
type echo struct{ asked []string }

func (e *echo) Asked(question string) string {
	e.asked = append(e.asked, question)
	switch question {
	case "nothing":
		return ""
	case "too much":
		return strings.Repeat("x", quorum.MaxQuestion+1)
	}
	return "to " + question
}

// post is the letters that a proxy has sent and that nobody has looked at yet.
type post struct{ letters []letter }

func (p *post) take() []letter {
	sent := p.letters
	p.letters = nil
	return sent
}

// inquirer is the proxy "me" with its colleague.
func inquirer(t *testing.T) (*Inquiries, *echo, *post) {
	p, c := new(post), new(echo)
	q := NewInquiries("me", func(text string) {
		v, ok := parseLetter(text)
		if !ok || v.sender != "me" {
			t.Errorf("%q was sent", text)
		}
		p.letters = append(p.letters, v)
	})
	q.Consult(c)
	return q, c, p
}

func (q *Inquiries) answerAll() {
	for q.Answer() {
	}
}

func TestQuestionIsAnsweredOnceToWhoHasAsked(t *testing.T) {
	q, c, p := inquirer(t)
	for range 3 { // as many masters
		q.Receive(letter{sender: "a", number: 1, text: "x"}.String())
		q.Receive(letter{sender: "b", number: 1, text: "nothing"}.String())
		q.Receive(letter{sender: "a", number: 2, text: "too much"}.String())
		q.Receive(letter{sender: "me", number: 1, text: "mine"}.String())
		q.Receive(letter{sender: "c", number: 1}.String()) // a greeting
		q.answerAll()
	}
	if want := []string{"x", "nothing", "too much"}; !slices.Equal(c.asked, want) {
		t.Errorf("asked: %q", c.asked)
	}
	want := []letter{
		{sender: "me", number: 1, asker: "a", question: 1, text: "to x"},
		{sender: "me", number: 2, asker: "b", question: 1},
		{sender: "me", number: 3, asker: "a", question: 2},
	}
	if got := p.take(); !slices.Equal(got, want) {
		t.Errorf("sent: %+v", got)
	}
}

func TestProxyWithoutAColleagueSaysSo(t *testing.T) {
	q, c, p := inquirer(t)
	q.Consult(nil)
	q.Receive(letter{sender: "a", number: 5, text: "x"}.String())
	q.answerAll()
	if got := p.take(); len(c.asked) != 0 || !slices.Equal(got, []letter{{sender: "me", number: 1, asker: "a", question: 5}}) {
		t.Errorf("sent: %+v", got)
	}
}

func TestAnswerGoesToTheOneInquiryThatAsked(t *testing.T) {
	q, _, p := inquirer(t)
	one, other := q.Ask("one"), q.Ask("other")
	asked := p.take()
	if len(asked) != 2 || asked[0].text != "one" || asked[1].text != "other" || asked[0].number == asked[1].number {
		t.Fatalf("sent: %+v", asked)
	}
	say := func(number uint64, asker string, to letter, text string) {
		for range 2 { // copies
			q.Receive(letter{sender: "a", number: number, asker: asker, question: to.number, text: text}.String())
		}
	}
	say(1, "somebody", asked[0], "not for us")
	say(2, "me", asked[1], "2")
	say(3, "me", asked[1], "2 again")
	say(4, "me", letter{number: 99}, "to what was not asked")
	say(5, "me", asked[0], "")
	select {
	case <-one.News():
	default:
		t.Error("no news of a proxy that has no answer")
	}
	if n, _ := one.Look(); n != 0 {
		t.Errorf("%d answers", n)
	}
	if got := other.End(true); !slices.Equal(got, []quorum.Answer{{Proxy: "a", Text: "2"}}) {
		t.Errorf("answered: %+v", got)
	}
	if got := one.End(true); got != nil {
		t.Errorf("answered: %+v", got)
	}
	say(6, "me", asked[0], "late")
	if len(q.open) != 0 || one.answers != nil {
		t.Errorf("%d inquiries are open, late answers: %+v", len(q.open), one.answers)
	}
}

// Whoever is heard of is there, until it says nothing to a question for which there was time.
func TestWhoIsThereIsWhoWasHeardOf(t *testing.T) {
	q, _, p := inquirer(t)
	q.Receive(letter{sender: "greets", number: 1}.String())
	q.Receive(letter{sender: "asks", number: 1, text: "x"}.String())
	q.Receive(letter{sender: "answers", number: 1, asker: "somebody", question: 1}.String())
	i := q.Ask("who?")
	if _, awaited := i.Look(); awaited != 3 {
		t.Errorf("%d are there", awaited)
	}
	number := p.take()[0].number
	q.Receive(letter{sender: "greets", number: 2, asker: "me", question: number, text: "I"}.String())
	q.Receive(letter{sender: "unknown", number: 1, asker: "me", question: number, text: "I, too"}.String())
	if answers, awaited := i.Look(); answers != 2 || awaited != 2 {
		t.Errorf("%d have answered, %d are awaited", answers, awaited)
	}
	i.End(false)
	if len(q.others) != 4 {
		t.Errorf("there are %v", q.others)
	}
	i = q.Ask("who?")
	q.Receive(letter{sender: "asks", number: 2, asker: "me", question: p.take()[0].number}.String())
	i.End(true)
	if there := slices.Collect(maps.Keys(q.others)); !slices.Equal(there, []string{"asks"}) {
		t.Errorf("there are %q", there)
	}
	q.Receive(letter{sender: "greets", number: 1}.String()) // a copy from a master that is slow
	if len(q.others) != 1 {
		t.Errorf("there are %v", q.others)
	}
}

// Questions that wait to be answered are bounded, and nobody waits for one who asks much.
func TestFloodOfQuestionsIsBoundedAndDelaysItself(t *testing.T) {
	q, c, p := inquirer(t)
	for n := range uint64(1000) {
		q.Receive(letter{sender: "flood", number: n + 1, text: fmt.Sprint("f", n)}.String())
	}
	q.Receive(letter{sender: "a", number: 1, text: "a1"}.String())
	q.Receive(letter{sender: "a", number: 2, text: "a2"}.String())
	q.answerAll()
	if want := []string{"f0", "a1", "f1", "a2", "f2"}; !slices.Equal(c.asked[:5], want) || len(c.asked) != maxQuestions+2 {
		t.Errorf("%d questions were answered: %q", len(c.asked), c.asked)
	}
	c.asked = nil
	for n := range 2 * maxAskers {
		q.Receive(letter{sender: fmt.Sprint("many", n), number: 1, text: "x"}.String())
	}
	q.answerAll()
	if len(c.asked) != maxAskers {
		t.Errorf("%d were answered", len(c.asked))
	}
	c.asked = nil
	long := strings.Repeat("x", quorum.MaxQuestion)
	for n := range maxAskers {
		for k := range uint64(2) {
			q.Receive(letter{sender: fmt.Sprint("long", n), number: k + 1, text: long}.String())
		}
	}
	if q.bytes != maxAsked {
		t.Errorf("%d bytes wait", q.bytes)
	}
	q.answerAll()
	if len(c.asked) != maxAsked/len(long) || q.bytes != 0 || len(q.askers) != 0 {
		t.Errorf("%d were answered, %d bytes wait", len(c.asked), q.bytes)
	}
	p.take()
}

func TestAnswersAreBounded(t *testing.T) {
	q, _, p := inquirer(t)
	i := q.Ask("x")
	number, long := p.take()[0].number, strings.Repeat("x", quorum.MaxQuestion)
	for n := range 2 * maxSenders {
		q.Receive(letter{sender: fmt.Sprint(n), number: 1, asker: "me", question: number, text: long}.String())
	}
	if len(i.heard) != maxSenders || len(q.others) != maxSenders {
		t.Errorf("%d were heard, %d are there", len(i.heard), len(q.others))
	}
	if answers := i.End(true); len(answers) != maxAnswered/len(long) {
		t.Errorf("%d answers", len(answers))
	}
}

func TestClosedInquiriesHearNothing(t *testing.T) {
	q, c, p := inquirer(t)
	i := q.Ask("x")
	q.Receive(letter{sender: "a", number: 1, text: "x"}.String())
	q.Close()
	select {
	case <-i.News():
	default:
		t.Error("whoever waits is not told")
	}
	q.Receive(letter{sender: "a", number: 2, text: "x"}.String())
	q.Receive(letter{sender: "a", number: 3, asker: "me", question: p.take()[0].number, text: "x"}.String())
	if q.answerAll(); len(c.asked) != 0 || i.End(true) != nil {
		t.Errorf("asked after the end: %q", c.asked)
	}
}
