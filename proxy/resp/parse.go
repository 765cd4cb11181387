package resp

import (
	"bytes"
	"unsafe"

	"github.com/tidwall/redcon"
)

// Parser takes commands apart that a Scanner has found, and keeps the room for that. The
// zero value is ready.
type Parser struct {
	words [][]byte // redcon's arguments
	args  []string // and what is made of them
}

// Parse takes a complete command apart, which a Scanner let pass; an inline command may have
// too many arguments yet, or quotes that do not end: then err is a ProtocolError. One that
// Redis ignores has no arguments. They are views of raw, which belongs to them from here on
// and is never written again. The slice is the Parser's, until the next command: whoever
// lets that wait clears it, so that nobody holds on to a command.
func (p *Parser) Parse(raw []byte, maxArgs int) (args []string, err error) {
	if raw[0] != '*' {
		args, ok := splitInline(bytes.TrimSuffix(raw, []byte("\n")))
		switch {
		case !ok:
			return nil, ProtocolError("unbalanced quotes in request")
		case len(args) > maxArgs:
			return nil, ProtocolError("too big inline request")
		}
		return args, nil
	}
	if raw[1] == '-' {
		return nil, nil // redcon takes *-1 for an error; Redis ignores it
	}
	complete, words, _, _, err := redcon.ReadNextCommand(raw, p.words)
	if err != nil || !complete {
		panic("resp: the parser does not agree that a command is complete")
	}
	p.args = p.args[:0]
	for _, word := range words {
		p.args = append(p.args, unsafe.String(unsafe.SliceData(word), len(word)))
	}
	clear(words) // which hold on to the command too
	p.words = words[:0]
	return p.args, nil
}
