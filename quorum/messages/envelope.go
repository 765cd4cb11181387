package messages

import (
	"strconv"
	"strings"
)

// Channel is the one channel of each master on which the proxies tell
// each other what was published, and ask each other. Clients that subscribe at a master themselves
// find nothing of theirs there.
const Channel = "redlock-proxy:{messages}"

// MaxEnvelope bounds what is sent through the masters, in bytes: a client's command is
// shorter.
const MaxEnvelope = 8 << 20

const maxSenderName = 64

// envelope is a published message on its way through the masters. Each of them
// carries a copy; sender and number tell that it is one message.
type envelope struct {
	sender           string // a proxy, by the random name it gave itself at its start
	number           uint64 // counted from 1
	channel, message string
}

// envelopeFormat is the first word of an envelope. Another one is another
// version's, and not read.
const envelopeFormat = "1"

// String is the envelope as the masters carry it: format, sender, number and
// the channel's length, with a space after each, then channel and message.
func (v envelope) String() string {
	b := make([]byte, 0, len(v.sender)+len(v.channel)+len(v.message)+48)
	b = append(b, envelopeFormat+" "...)
	b = append(b, v.sender...)
	b = append(b, ' ')
	b = strconv.AppendUint(b, v.number, 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(len(v.channel)), 10)
	b = append(b, ' ')
	b = append(b, v.channel...)
	return string(append(b, v.message...))
}

// parseEnvelope is false for what is no envelope: whoever can reach the masters
// can publish there.
func parseEnvelope(s string) (v envelope, ok bool) {
	words := strings.SplitN(s, " ", 5)
	if len(words) < 5 || words[0] != envelopeFormat || words[1] == "" || len(words[1]) > maxSenderName {
		return v, false
	}
	number, err := strconv.ParseUint(words[2], 10, 64)
	length, err2 := strconv.ParseUint(words[3], 10, 31)
	body := words[4]
	if err != nil || err2 != nil || number == 0 || length > uint64(len(body)) {
		return v, false
	}
	return envelope{words[1], number, body[:length], body[length:]}, true
}
