package messages

import (
	"strconv"
	"strings"

	"redlock-proxy/quorum"
)

// letter is what a proxy asks the others, or answers one of them, on its way through the masters.
// As of an envelope, each of them carries a copy.
type letter struct {
	sender string // a proxy, as in an envelope
	number uint64 // counted from 1, apart from that of its messages

	asker    string // of an answer: the proxy that has asked, "" of a question
	question uint64 // of an answer: the number of what it answers

	// text is the question or the answer. A question without text asks for nothing: it
	// tells that its sender is there.
	text string
}

// The first words of letters, with a number that another version of them would change. No client
// can have such a one be sent: what clients publish is in an envelope, whatever it looks like.
//
// A proxy that knows no letters takes one for what it is: no envelope, as the first word is not
// that of its format (parseEnvelope). It reads no further, counts nothing and delivers nothing.
const (
	questionFormat = "question1"
	answerFormat   = "answer1"
)

// String is the letter as the masters carry it: format, sender and number, of an answer also the
// asker and the question's number, with a space after each, then the text.
func (v letter) String() string {
	b := make([]byte, 0, len(v.sender)+len(v.asker)+len(v.text)+64)
	if v.asker == "" {
		b = append(b, questionFormat+" "...)
	} else {
		b = append(b, answerFormat+" "...)
	}
	b = append(b, v.sender...)
	b = append(b, ' ')
	b = strconv.AppendUint(b, v.number, 10)
	b = append(b, ' ')
	if v.asker != "" {
		b = append(b, v.asker...)
		b = append(b, ' ')
		b = strconv.AppendUint(b, v.question, 10)
		b = append(b, ' ')
	}
	return string(append(b, v.text...))
}

// parseLetter is false for what is no letter, or longer than one may be.
func parseLetter(s string) (v letter, ok bool) {
	format, rest, _ := strings.Cut(s, " ")
	if format != questionFormat && format != answerFormat {
		return v, false
	}
	if v.sender, v.number, rest, ok = cutName(rest); !ok {
		return letter{}, false
	}
	if format == answerFormat {
		if v.asker, v.question, rest, ok = cutName(rest); !ok {
			return letter{}, false
		}
	}
	if v.text = rest; len(rest) > quorum.MaxQuestion {
		return letter{}, false
	}
	return v, true
}

// cutName cuts a proxy's name and a number off, each of which ends with a space.
func cutName(s string) (name string, number uint64, rest string, ok bool) {
	name, rest, _ = strings.Cut(s, " ")
	digits, rest, spaced := strings.Cut(rest, " ")
	number, err := strconv.ParseUint(digits, 10, 64)
	return name, number, rest, spaced && err == nil && number > 0 && name != "" && len(name) <= maxSenderName
}
