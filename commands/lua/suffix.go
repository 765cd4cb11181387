package lua

// This file reads names and what stands behind them: fields, and calls.

// suffixed reads what a statement may begin with: a name, or an expression in
// parentheses, and all that is behind it.
func (p *parser) suffixed() expression {
	e := p.primary()
	for {
		switch t := p.now(); {
		case t.is("."):
			e = p.field(e)
		case t.is("["):
			e = p.index(e)
		case t.is(":"):
			e = p.method(e)
		case t.is("("), t.is("{"), t.Kind == String:
			number := e.kind == global && e.name == "tonumber"
			named := e.kind == global && globals[e.name] || e.kind == member
			alone := named && giveOne[e.name]
			e = p.read(e)
			e = expression{kind: call, from: e.from, number: number, alone: alone, guarded: named && !alone, size: e.size.with(p.arguments("", 1))}
		default:
			return e
		}
	}
}

// primary reads a name, or an expression in parentheses, which give one value of it.
func (p *parser) primary() expression {
	switch t := p.now(); {
	case t.Kind == Name:
		return p.named()
	case t.is("("):
		from := len(p.out)
		p.accept("(")
		e := p.expression()
		p.close(")", "(", t.Line)
		return expression{kind: value, from: from, number: e.number, jumps: e.jumps, size: e.size.inside(0)}
	}
	p.syntax("unexpected symbol")
	return expression{}
}

// given tells whether this is KEYS or ARGV of the script, which no string is.
func (p *parser) given(e expression) bool {
	return e.kind == local && e.variable.in.outer == nil
}

// field reads .name behind an expression.
func (p *parser) field(of expression) expression {
	given := p.given(of)
	of = p.read(of)
	if !p.skip(":") {
		p.skip(".")
	}
	name := p.take(Name)
	return expression{kind: field, from: of.from, name: name, plain: given || !methods[name], at: p.write("." + name), size: of.size.with(size{1, 3})}
}

// index reads [key] behind an expression.
func (p *parser) index(of expression) expression {
	given := p.given(of)
	of = p.read(of)
	e := expression{kind: indexed, from: of.from, at: len(p.out)}
	p.accept("[")
	text, literal := p.now(), p.now().Kind == String && p.ahead(1).is("]")
	key := p.expression()
	e.end = len(p.out)
	p.expect("]")
	e.plain = given || key.number || literal && len(text.Text) <= maxName && !methods[text.Text]
	e.size = of.size.with(key.size.inside(2))
	return e
}

// method reads :name and arguments behind an expression.
func (p *parser) method(of expression) expression {
	of = p.read(of)
	p.skip(":")
	name := p.take(Name)
	p.open(of.from, p.helper("method", true))
	s := p.arguments(name, 3)
	return expression{kind: call, from: of.from, guarded: methods[name], size: of.size.inside(1).with(s)}
}

// arguments reads those of a call, before which so many registers are held. In a call that
// is begun already, they stand behind a method's name.
func (p *parser) arguments(method string, held int) size {
	t := p.now()
	switch {
	case t.Kind == String && method == "":
		return p.operand().size.inside(held)
	case t.Kind == String, t.is("{"):
		if method == "" {
			p.write("(")
		} else {
			p.write("," + quote(method) + ",")
		}
		s := p.operand().size.inside(held)
		p.write(")")
		return s
	case !t.is("("):
		p.syntax("function arguments expected")
	case t.Line != p.line:
		p.syntax("ambiguous syntax (function call x new statement)")
	}
	p.skip("(")
	switch {
	case method == "":
		p.write("(")
	case p.sees(")"):
		p.write("," + quote(method))
	default:
		p.write("," + quote(method) + ",")
	}
	s := leaf
	if !p.sees(")") {
		s, _ = p.list()
	}
	p.close(")", "(", t.Line)
	return s.inside(held)
}
