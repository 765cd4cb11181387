package lua

import (
	"fmt"
	"strings"
)

// expression is one that was read, and is printed from a piece on to the last.
type expression struct {
	kind kind
	from int
	size size

	number   bool      // whatever it comes to, it is no string
	alone    bool      // it is printed as one call, and gives one value
	guarded  bool      // it is a call of a function of Redis's, which gives any number
	name     string    // of a local, a global, a member, a field
	variable *variable // of a local
	plain    bool      // of a field: it needs no guard
	at, end  int       // of a field: the pieces around its key
	jumps    int       // of and, or: how many end behind it
}

// kind is what an expression still may become, for it ends only where the next token is
// known: a name and a field may be assigned to, and a call and ... give several values or
// one.
type kind uint8

const (
	value kind = iota + 1
	local
	global
	member // of a library
	field  // a.k
	indexed
	call
	varargs
)

// size is what an expression, as it is printed, takes of what Lua has bounds for: how deep
// it nests, and how many registers it needs at once.
type size struct{ levels, registers int }

var leaf = size{1, 1}

// with is the size of something that takes both, one after the other.
func (s size) with(t size) size {
	return size{max(s.levels, t.levels), max(s.registers, t.registers)}
}

// beside is the size where so many registers are held.
func (s size) beside(registers int) size { return size{s.levels, s.registers + registers} }

// inside is beside, and one deeper.
func (s size) inside(registers int) size { return size{s.levels + 1, s.registers + registers} }

// settle checks the size of what a statement evaluates at once.
func (p *parser) settle(s size) {
	f := p.function
	if p.depth+s.levels > maxPrinted {
		p.beyond(tooDeep)
	}
	if len(f.locals)+f.hidden+s.registers > maxRegisters {
		p.beyond(tooComplex)
	}
	f.levels = max(f.levels, p.depth-f.depth+s.levels)
	f.registers = max(f.registers, len(f.locals)+f.hidden+s.registers)
}

// read makes an expression a value that is read. A string has fields, so that what may be
// one of them is guarded.
func (p *parser) read(e expression) expression {
	if p.err != nil {
		return e
	}
	switch e.kind {
	case local:
		e.kind = value
		return e
	case global:
		if globals[e.name] {
			p.out[e.from].text = p.helper(e.name, true)
		} else {
			p.out[e.from].text = p.helper("global", true) + "(" + quote(e.name) + ")"
		}
	case field, indexed:
		if e.plain {
			break
		}
		p.open(e.from, p.helper("index", true))
		if e.kind == field {
			p.out[e.at].text = "," + quote(e.name)
			p.write(")")
		} else {
			p.out[e.at].text = ","
			p.out[e.end].text = ")"
		}
		return expression{kind: value, from: e.from, alone: true, size: e.size.inside(1)}
	case value, call, varargs:
		return e
	}
	return expression{kind: value, from: e.from, alone: e.kind == global && !globals[e.name], size: e.size}
}

// one makes an expression give one value where it stands last among arguments.
func (p *parser) one(e expression) {
	if e.kind == call {
		p.wrap(e.from, "")
	}
}

// several makes an expression give all its values.
func (p *parser) several(e expression) {
	if e.kind == varargs {
		p.out[e.from].text = p.helper("varargs", true) + "(...)"
	}
}

// operand reads an expression without a binary operator.
func (p *parser) operand() expression {
	switch t := p.now(); {
	case t.Kind == Number:
		return expression{kind: value, from: p.write(numberText(p.take(Number))), number: true, size: leaf}
	case t.Kind == String:
		return expression{kind: value, from: p.write(quote(p.take(String))), size: leaf}
	case t.is("nil") || t.is("true") || t.is("false"):
		from := len(p.out)
		p.accept(t.Text)
		return expression{kind: value, from: from, size: leaf}
	case t.is("..."):
		return p.varargs()
	case t.is("{"):
		return p.table()
	case p.skip("function"):
		from := p.write("function")
		return expression{kind: value, from: from, size: p.closure(p.now().Line, false)}
	}
	return p.read(p.suffixed())
}

// varargs is printed as what gives one value. As such it stands in parentheses.
func (p *parser) varargs() expression {
	if !p.function.vararg {
		p.syntax("cannot use '...' outside a vararg function")
	}
	p.skip("...")
	return expression{kind: varargs, from: p.write("(...)"), size: size{levels: 2, registers: 2}}
}

// maxListed is how many values one list may have.
const maxListed = 200

// list reads expressions, of which the last gives all its values. It tells how many.
func (p *parser) list() (s size, n int) {
	s, n, _ = p.listed()
	return s, n
}

// listed is list, and tells the last expression.
func (p *parser) listed() (s size, n int, last expression) {
	for {
		e := p.expression()
		s = s.with(e.size.beside(n))
		if n++; n > maxListed {
			p.beyond(tooComplex)
		}
		if !p.accept(",") {
			p.several(e)
			return s, n, e
		}
	}
}

// maxSmall is how many fields a constructor may have without its table being counted among
// those that cost something.
const maxSmall = 32

// small tells whether the key that is next, up to its bracket, is a string, or a number of
// few digits. What else a number is may have to be looked at, see doubled in the helpers.
func (p *parser) small() bool {
	t := p.now()
	return p.ahead(1).is("]") && (t.Kind == String || t.Kind == Number && len(t.Text) < 6 && !strings.ContainsAny(t.Text, "eExX"))
}

// table reads a constructor.
func (p *parser) table() expression {
	line := p.now().Line
	e := expression{kind: value, from: len(p.out), size: leaf}
	p.expect("{")
	// Lua holds 50 positional values at once, before it puts them into the table.
	fields, keyed, held, large := 0, 0, 0, false
	for !p.sees("}") && p.err == nil {
		switch {
		case p.now().Kind == Name && p.ahead(1).is("="):
			keyed++
			p.write(p.take(Name))
			p.accept("=")
			e.size = e.size.with(p.expression().size.inside(2 + held))
		case p.accept("["):
			keyed++
			large = large || !p.small()
			e.size = e.size.with(p.expression().size.inside(1 + held))
			p.expect("]")
			p.expect("=")
			e.size = e.size.with(p.expression().size.inside(2 + held))
		default:
			v := p.expression()
			held = min(held+1, 50)
			e.size = e.size.with(v.size.inside(held))
			if p.sees("}") || (p.ahead(1).is("}")) {
				p.several(v)
			}
		}
		fields++
		if p.skip(",") || p.skip(";") {
			p.write(",")
		} else {
			break
		}
	}
	p.close("}", "{", line)
	p.body.more += fields / fieldsAStep
	if fields > maxSmall || large {
		p.begin(e.from, fmt.Sprintf("%s(%d,%d,", p.helper("table", true), fields, keyed))
		p.write(")")
		e.size = e.size.inside(3)
	}
	return e
}
