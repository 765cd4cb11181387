package proxy

import (
	"bytes"
	"unsafe"

	"github.com/tidwall/redcon"
)

// parser takes commands apart that a scanner has found, and keeps the room for that. The
// zero value is ready.
type parser struct {
	words [][]byte // redcon's arguments
	args  []string // and what is made of them
}

// parse takes a complete command apart, as the scanner let it pass. One that Redis ignores
// has no arguments. They are views of raw, which belongs to them from here on and is never
// written again. The slice is the parser's, until the next command: whoever lets that wait
// clears it, so that nobody holds on to a command.
func (p *parser) parse(raw []byte, maxArgs int) (args []string, err error) {
	if raw[0] != '*' {
		args, ok := splitInline(bytes.TrimSuffix(raw, []byte("\n")))
		switch {
		case !ok:
			return nil, protocolError("unbalanced quotes in request")
		case len(args) > maxArgs:
			return nil, protocolError("too big inline request")
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
