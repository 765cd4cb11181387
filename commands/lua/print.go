package lua

import (
	"fmt"
	"slices"
	"strings"
)

// This file keeps what is printed while it is not yet settled. That an expression is to
// be guarded is often seen only behind it, and how much a body weighs only at its end.

// piece is a token of what is printed, with the beginnings of the guards that enclose
// what begins with it.
type piece struct {
	line  int
	text  string
	opens []string // these beginnings, the innermost first
}

// write prints one piece more, on the line of the token that was read last. It tells
// where the piece is.
func (p *parser) write(text string) int {
	p.out = append(p.out, piece{line: p.line, text: text})
	return len(p.out) - 1
}

// wrap puts a call around what was printed from a piece on.
func (p *parser) wrap(from int, call string) {
	p.open(from, call)
	p.write(")")
}

func (p *parser) open(from int, call string) { p.begin(from, call+"(") }

// begin puts something before a piece. So much of that as is too deep is said to be at once.
func (p *parser) begin(from int, text string) {
	if p.err != nil {
		return
	}
	piece := &p.out[from]
	if piece.opens = append(piece.opens, text); len(piece.opens) > maxPrinted {
		p.beyond(tooDeep)
	}
}

// unwrite takes back what was printed from a piece on.
func (p *parser) unwrite(from int) { p.out = p.out[:from] }

// numberText spells a number so that nothing beside it becomes part of it.
func numberText(source string) string { return " " + source + " " }

// text is what was printed, each piece on its line.
func (p *parser) text() string {
	var b strings.Builder
	line, last := 1, byte('\n')
	write := func(at int, text string) {
		switch {
		case at > line:
			b.WriteString(strings.Repeat("\n", at-line))
			line = at
		case !touches(last, text[0]):
			b.WriteByte(' ')
		}
		b.WriteString(text)
		last = text[len(text)-1]
	}
	for _, piece := range p.out {
		for _, open := range slices.Backward(piece.opens) {
			write(piece.line, open)
		}
		write(piece.line, piece.text)
	}
	return b.String()
}

// touches tells whether two pieces may stand side by side. Two minuses would begin a
// comment, and two names become one.
func touches(left, right byte) bool {
	switch {
	case strings.IndexByte("\n ([{", left) >= 0, strings.IndexByte(" ),;]}[.", right) >= 0:
		return true
	}
	return right == '(' && (isLetter(left) || isDigit(left) || left == ')' || left == ']') || left == ','
}

// body is what a tick stands at the beginning of: that of a loop, a function, or all.
type body struct {
	outer  *body
	tick   int // the piece that is kept for it
	tokens int // those in bodies inside it not counted
	more   int // steps for what costs more than its tokens
	passed int // variables that Lua goes through to make functions
	breaks int // out of the loop that it is
}

const (
	tokensAStep = 32
	fieldsAStep = 8
	passedAStep = 1000

	registersAStep = 32 // of a function, since Lua keeps room for those of all that are called
)

func (p *parser) beginBody() { p.body = &body{outer: p.body} }

// writeTick leaves room for the tick. It stands behind the word that begins the body.
func (p *parser) writeTick() {
	p.resolve("__t")
	p.resolve("__x")
	p.body.tick = p.write("")
}

func (p *parser) endBody() {
	b := p.body
	p.body = b.outer
	if p.err == nil {
		p.out[b.tick].text = fmt.Sprintf("__t=__t-%d if __t<1 then __x() end", 1+b.tokens/tokensAStep+b.passed/passedAStep+b.more)
	}
}
