package lua

// assignment reads an assignment, or a call that is a statement.
func (p *parser) assignment() {
	from := len(p.out)
	e := p.suffixed()
	if e.kind == call {
		p.settle(e.size)
		return
	}
	// Lua holds a table and a key for each target, and nests one deeper.
	var s size
	var lost string // a global that is assigned to
	var targets []target
	fields := 0
	for {
		p.target(e)
		if e.kind == global {
			lost = e.name
		}
		s = s.with(e.size.beside(2 * len(targets)))
		p.enter()
		targets = append(targets, target{e, len(p.out)})
		if e.kind != local {
			fields++
		}
		if !p.accept(",") {
			break
		}
		e = p.suffixed()
	}
	n := len(targets)
	p.depth -= n
	if !p.skip("=") {
		p.expected("=")
		return
	}
	switch {
	case lost != "":
		// Nothing will be assigned to anything, as that raises.
		p.unwrite(from)
		p.write(p.setGlobal(lost))
	case fields == 0:
		p.write("=")
		values, _ := p.list()
		p.settle(s.with(values.beside(2 * n)))
		return
	case n == 1:
		p.asArguments(e)
		p.open(from, p.helper("set", true))
	default:
		p.assignSeveral(from, targets)
	}
	values, _ := p.list()
	p.write(")")
	p.settle(s.inside(2).with(values.inside(2 + 2*n)))
}

// target is what is assigned to, and the piece behind it.
type target struct {
	expression
	behind int
}

// asArguments makes of a field that is assigned to the first arguments of a call: its table
// and its key.
func (p *parser) asArguments(e expression) {
	switch {
	case p.err != nil:
	case e.kind == field:
		p.out[e.at].text = "," + quote(e.name) + ","
	default:
		p.out[e.at].text = ","
		p.out[e.end].text = ","
	}
}

// assignSeveral prints what stands before the values, where fields are among the targets.
// Their tables and keys are evaluated before the values, and they are written to by the
// helper, which gives what the locals get.
func (p *parser) assignSeveral(from int, targets []target) {
	var locals, fields []piece
	kinds := ""
	line := p.out[from].line
	for _, t := range targets {
		if t.kind == local {
			kinds += "l"
			if len(locals) > 0 {
				locals = append(locals, piece{line: line, text: ","})
			}
			locals = append(locals, piece{line: line, text: t.name})
			continue
		}
		kinds += "t"
		p.asArguments(t.expression)
		fields = append(fields, p.out[t.from:t.behind]...)
	}
	if len(locals) > 0 {
		locals = append(locals, piece{line: line, text: "="})
	}
	locals = append(locals, piece{line: line, text: p.helper("sets", true) + "(" + quote(kinds) + ","})
	p.out = append(append(p.out[:from], locals...), fields...) // both are copies
}

// target checks that an expression may be assigned to. As one it stands as it is in the
// text: strings have no fields that could be written.
func (p *parser) target(e expression) {
	switch e.kind {
	case local:
		if p.given(e) {
			p.refuse(p.line, notAssigned, e.name)
		}
		p.assigned(e.variable)
	case member:
		p.refuse(p.line, notAssigned, e.name)
	case global, field, indexed:
	default:
		p.syntax("syntax error")
	}
}

// setGlobal is what stands before the values that a global is to get.
func (p *parser) setGlobal(name string) string {
	return p.helper("setglobal", true) + "(" + quote(name) + ","
}
