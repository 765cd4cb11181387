package lua

import (
	"fmt"
	"strconv"
)

// The bounds that Lua has for one function. Of registers it has 250, of which it takes a
// few now and then for itself.
const (
	maxLocals    = 200
	maxUpvalues  = 60
	maxRegisters = 230
)

// variable is a local of the client's, or what the prelude gives the script.
type variable struct {
	name    string
	in      *function
	id      int  // by which a second reading knows it
	counter bool // of a numeric for, and never assigned: it is a number
}

// function is a function that is being read.
type function struct {
	outer    *function
	line     int // 0: the text itself
	vararg   bool
	loops    int
	locals   []*variable
	hidden   int // locals without a name, which loops have
	upvalues map[*variable]bool
	depth    int // of the parser, where the function's block begins
	levels   int // how deep what is printed of it nests, so far

	registers int // that it needs, so far
}

// prelude is what stands around the text, see Read.
func (p *parser) prelude() {
	p.function = &function{}
	for _, name := range [...]string{"KEYS", "ARGV", "__h", "__t", "__x"} {
		p.declare(name)
	}
}

func (p *parser) enterFunction(line int) {
	p.function = &function{outer: p.function, line: line, upvalues: map[*variable]bool{}, depth: p.depth}
}

func (p *parser) leaveFunction() {
	p.forget(0)
	p.function = p.function.outer
}

// declare makes a local, visible from here on.
func (p *parser) declare(name string) *variable {
	p.room(1)
	v := &variable{name: name, in: p.function, id: p.variables}
	p.variables++
	p.function.locals = append(p.function.locals, v)
	p.visible[name] = append(p.visible[name], v)
	return v
}

// room refuses more locals than Lua has room for.
func (p *parser) room(more int) {
	if len(p.function.locals)+p.function.hidden+more > maxLocals {
		p.tooMany(maxLocals, "local variables")
	}
}

// maxJumps is how many jumps may have one end: alternatives of an if, breaks of a loop, and
// operands of and, or. Lua goes through all of them for each further one.
const maxJumps = 500

func (p *parser) jumps(n int) {
	if n > maxJumps {
		p.beyond(tooComplex)
	}
}

func (p *parser) tooMany(bound int, what string) {
	where := "main function"
	if p.function.line > 0 {
		where = "function at line " + strconv.Itoa(p.function.line)
	}
	p.beyond(fmt.Sprintf(tooMany, where, bound, what))
}

// forget ends the function's locals but for the first n.
func (p *parser) forget(n int) {
	f := p.function
	for _, v := range f.locals[n:] {
		p.visible[v.name] = p.visible[v.name][:len(p.visible[v.name])-1]
	}
	f.locals = f.locals[:n]
}

// resolve finds what a name means, nil if it is a global of Redis's. From where it is meant
// to where it is declared, each function has it as an upvalue.
func (p *parser) resolve(name string) *variable {
	visible := p.visible[name]
	if len(visible) == 0 {
		return nil
	}
	v := visible[len(visible)-1]
	for f := p.function; f != v.in && !f.upvalues[v]; f = f.outer {
		if f.upvalues[v] = true; len(f.upvalues) > maxUpvalues {
			p.tooMany(maxUpvalues, "upvalues")
		}
	}
	return v
}

// assigned takes down that a variable is assigned. What is printed may already rest on a
// counter's being a number: then the text is to be read again.
func (p *parser) assigned(v *variable) {
	if v.counter {
		p.again[v.id] = true
	}
}
