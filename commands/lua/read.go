// Package lua reads the Lua of lock scripts. A client's text never reaches a master: what
// runs there is printed from what was read, and can name nothing but what is given to it.
//
// Read parses as Lua 5.1 does, without a tree: what is read is printed as it comes, and what
// shows only later, say that an expression is to be guarded, is put in where it belongs
// (print.go). Text that Lua would not compile is refused in Lua's words, and so is some that
// it would (names.go, errors.go).
package lua

import (
	"maps"
	"slices"
	"strconv"
)

// Program is a text that was read, as it is to run.
type Program struct {
	// Body is Lua statements, to be put into
	//
	//	function(...) Body end
	//
	// where KEYS, ARGV, __h, __t and __x are visible, which are its only free names. A token
	// of the text's line n is on line n of it, so that errors keep their lines. It compiles
	// where what is around it nests no more than 15 deep.
	//
	// __t is one more than the number of steps left, of which each turn of a loop and each call
	// of a function takes one and more; __x is called when there are none. (One more, since a 0
	// in what is printed would have Lua take a -0 of the text's for it.)
	//
	// __h is a table of what stands in the place of Redis's names (string_sub for
	// string.sub, redis_call for redis.call, type for type) and of what else may cost what
	// its arguments decide:
	//
	//	index(a, k)                         a[k], where a may be a string and k the name of a function of its
	//	method(o, "f", ...)                 o:f(...)
	//	number(x)                           x, which is to be calculated with, and may be a string
	//	less lessequal greater greaterequal a<b, a<=b, a>b, a>=b
	//	join(...)                           what .. does, with at most 12 operands
	//	varargs(...)                        ..., where it gives all there are
	//	set(a, k, v), sets("tl", a, k, ...) a[k] = v; a[k], x = ..., and then it gives what x gets
	//	table(n, m, {...})                  a table of n fields, of which m have keys of their own
	//	values(f(...))                      f(...) where it is all that is returned
	//	global("x"), setglobal("x", ...)    a global that Redis lacks; assigning to any
	Body string

	// Helpers is what of __h the body needs, sorted. What it names beyond that Redis lacks,
	// and is nil.
	Helpers []string
}

// Read reads a script. An error is an *Error.
func Read(text string) (*Program, error) {
	tokens, unread := Lex(text)
	again := map[int]bool{}
	for {
		known := len(again)
		p := newParser(tokens, unread, again)
		p.chunk()
		if p.err != nil {
			return nil, p.err
		}
		if len(again) == known {
			return &Program{Body: p.text(), Helpers: slices.Sorted(maps.Keys(p.helpers))}, nil
		}
	}
}

// maxNesting is how deep a text may nest, blocks and expressions together, and
// maxPrinted how deep what is printed may, which Lua refuses beyond 200.
const (
	maxNesting = 100
	maxPrinted = 180
)

// parser reads a text and prints it. Its methods are as many as Lua has constructs: each
// reads one, and hands what is inside of it to others, in whatever order the text has them.
type parser struct {
	tokens []Token // what is left to read, with an End behind it
	unread error   // why there is nothing behind the tokens
	err    error
	line   int // of the token that was read last
	depth  int

	function  *function
	visible   map[string][]*variable // by name, the innermost last
	variables int                    // that were declared so far
	again     map[int]bool           // the loops' variables that an earlier reading, or this one, has seen assigned

	out     []piece
	body    *body
	helpers map[string]bool
}

func newParser(tokens []Token, unread error, again map[int]bool) *parser {
	return &parser{
		tokens: tokens, unread: unread, line: 1,
		visible: map[string][]*variable{}, again: again,
		out: make([]piece, 0, 2*len(tokens)), helpers: map[string]bool{},
	}
}

// chunk reads the whole text.
func (p *parser) chunk() {
	p.prelude()
	p.enterFunction(0)
	p.function.vararg = true
	p.room(1) // for the arg of the function that it is put into
	p.function.hidden++
	p.beginBody()
	p.writeTick()
	p.block()
	p.endBody()
	if p.now().Kind != End || p.unread != nil {
		p.expected("<eof>")
	}
}

func (p *parser) now() Token { return p.tokens[0] }

// ahead is the token n behind the next one.
func (p *parser) ahead(n int) Token { return p.tokens[min(n, len(p.tokens)-1)] }

func (p *parser) sees(text string) bool { return p.now().is(text) }

func (p *parser) advance() {
	p.line = p.now().Line
	p.tokens = p.tokens[1:]
	p.body.tokens++
}

// skip reads this symbol or keyword, if it is next, and prints nothing.
func (p *parser) skip(text string) bool {
	if !p.sees(text) {
		return false
	}
	p.advance()
	return true
}

// accept is skip that prints the token.
func (p *parser) accept(text string) bool {
	if !p.skip(text) {
		return false
	}
	p.write(text)
	return true
}

// expect reads a symbol or keyword that has to be next, and prints it.
func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.expected(text)
	}
}

// close is expect of what ends something that was begun on a line.
func (p *parser) close(text, opener string, line int) {
	switch {
	case p.accept(text):
	case line == p.now().Line:
		p.expected(text)
	default:
		p.syntax("'" + text + "' expected (to close '" + opener + "' at line " + strconv.Itoa(line) + ")")
	}
}

// take reads a token of a kind that has to be next, and prints nothing.
func (p *parser) take(kind Kind) string {
	t := p.now()
	if t.Kind != kind {
		p.expected("<name>")
		return ""
	}
	p.advance()
	return t.Text
}

// enter and leave are around whatever reads something inside its like.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.beyond(tooDeep)
	}
}

func (p *parser) leave() { p.depth-- }
