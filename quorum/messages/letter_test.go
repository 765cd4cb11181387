package messages

import (
	"math"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

var letters = []letter{
	{sender: "ab12", number: 1, text: "who?"},
	{sender: "ab12", number: 1},
	{sender: "0123456789abcdef", number: math.MaxUint64, text: " 1 2 \r\n\x00"},
	{sender: "x", number: 7, asker: "ab12", question: 1, text: "I"},
	{sender: "x", number: 7, asker: "0123456789abcdef", question: math.MaxUint64},
	{sender: "x", number: 7, asker: "y", question: 3, text: strings.Repeat("\xff", quorum.MaxQuestion)},
}

func TestLetterHoldsWhatWasPutIn(t *testing.T) {
	for _, v := range letters {
		if got, ok := parseLetter(v.String()); !ok || got != v {
			t.Errorf("%+v came back as %+v, %v", v, got, ok)
		}
	}
}

func TestWhatIsNoLetterIsNotRead(t *testing.T) {
	long := strings.Repeat("s", maxSenderName+1)
	for _, text := range []string{
		"", " ", "hello", "question1", "question1 s", "question1 s 1", "question1  1 x", "question1 s 0 x", "question1 s -1 x", "question1 s x x",
		"question1 s 18446744073709551616 x", "question2 s 1 x", "question1 " + long + " 1 x", "question1 s 1 " + strings.Repeat("x", quorum.MaxQuestion+1),
		"answer1 s 1 x", "answer1 s 1 a", "answer1 s 1 a 1", "answer1 s 1  1 x", "answer1 s 1 a 0 x", "answer1 s 1 a y x", "answer1 s 1 " + long + " 1 x",
		"1 s 1 1 ab",
	} {
		if v, ok := parseLetter(text); ok {
			t.Errorf("%q was read as %+v", text, v)
		}
	}
}

// A proxy that knows no letters has parseEnvelope alone to read them with.
func TestLetterIsNothingToAProxyThatKnowsNone(t *testing.T) {
	b := New("old", func(string) bool { t.Error("it was carried on"); return true })
	a := &audience{may: make(chan struct{})}
	close(a.may)
	b.Attend(a)
	for _, v := range letters {
		if v, ok := parseEnvelope(v.String()); ok {
			t.Errorf("it was read as %+v", v)
		}
		b.Receive(v.String())
	}
	b.Receive(envelope{"x", 1, "c", "m"}.String()) // a letter's number is none of a message's
	b.Close()
	b.Run()
	if _, _, received := b.Counts(); received != 1 || len(a.got) != 1 || a.got[0] != "c=m" {
		t.Errorf("%d were received, delivered: %q", received, a.got)
	}
}
