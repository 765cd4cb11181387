package lua

// block reads statements up to the word that ends them, which it leaves.
func (p *parser) block() {
	outer := p.enterBlock()
	p.statements()
	p.leaveBlock(outer)
}

// enterBlock begins a block. It tells how many locals there are outside.
func (p *parser) enterBlock() int {
	p.enter()
	f := p.function
	f.levels = max(f.levels, p.depth-f.depth)
	return len(f.locals)
}

func (p *parser) leaveBlock(outer int) {
	p.forget(outer)
	p.leave()
}

// ends tells whether the next token can only be behind a block.
func (p *parser) ends() bool {
	return p.now().Kind == End || p.sees("end") || p.sees("else") || p.sees("elseif") || p.sees("until")
}

func (p *parser) statements() {
	for last := false; !last && !p.ends(); {
		last = p.statement()
		// What is printed may end in a call where the text ends in, say, a string, and a
		// parenthesis behind that would be its arguments.
		if !p.accept(";") && p.sees("(") {
			p.write(";")
		}
	}
}

// statement reads one, and tells whether it has to be the last of its block.
func (p *parser) statement() (last bool) {
	line := p.now().Line
	switch {
	case p.accept("if"):
		p.conditional(line)
	case p.accept("while"):
		p.whileLoop(line)
	case p.accept("repeat"):
		p.repeatLoop(line)
	case p.accept("for"):
		p.forLoop(line)
	case p.accept("do"):
		p.block()
		p.close("end", "do", line)
	case p.skip("function"):
		p.functionStatement(line)
	case p.accept("local"):
		p.localStatement()
	case p.accept("return"):
		if !p.ends() && !p.sees(";") {
			p.settle(p.returned())
		}
		return true
	case p.accept("break"):
		if p.function.loops == 0 {
			p.syntax("no loop to break")
		}
		p.body.breaks++
		p.jumps(p.body.breaks)
		return true
	default:
		p.assignment()
	}
	return false
}

// returned reads what is returned. A call alone would be made in the place of the script's
// own function, and a helper hide on which line that was: so where it gives one value, it
// stands in parentheses, and where it gives any number, another is made of that.
func (p *parser) returned() size {
	from := len(p.out)
	s, n, last := p.listed()
	if n == 1 && p.err == nil && last.alone {
		p.wrap(from, "")
		s.levels++
	} else if n == 1 && p.err == nil && last.guarded {
		p.wrap(from, p.helper("values", true))
		s = s.inside(1)
	}
	return s
}

func (p *parser) conditional(line int) {
	p.condition("then")
	p.block()
	for n := 1; p.accept("elseif"); n++ {
		p.jumps(n)
		p.condition("then")
		p.block()
	}
	if p.accept("else") {
		p.block()
	}
	p.close("end", "if", line)
}

func (p *parser) condition(behind string) {
	p.settle(p.expression().size)
	if behind != "" {
		p.expect(behind)
	}
}

func (p *parser) localStatement() {
	if p.accept("function") {
		name := p.plainName()
		p.write(name)
		p.declare(name)
		p.settle(p.closure(p.now().Line, false))
		return
	}
	names := p.names()
	if p.accept("=") {
		s, _ := p.list()
		p.settle(s)
	}
	// Only now: in local x = x, the second one is another.
	for _, name := range names {
		p.declare(name)
	}
}

// names reads names that will be declared, as many as a function may have.
func (p *parser) names() []string {
	var names []string
	for {
		name := p.plainName()
		p.write(name)
		names = append(names, name)
		p.room(len(names))
		if !p.accept(",") {
			return names
		}
	}
}

// functionStatement is printed as the assignment that it is.
func (p *parser) functionStatement(line int) {
	from := len(p.out)
	e := p.named()
	for p.sees(".") {
		e = p.field(e)
	}
	method := p.sees(":")
	if method {
		e = p.field(e)
	}
	if p.target(e); p.err != nil {
		return
	}
	switch e.kind {
	case local:
		p.write("=")
		p.write("function")
		p.settle(p.closure(line, method).beside(2))
		return
	case global:
		p.unwrite(from)
		p.write(p.setGlobal(e.name))
	default:
		p.asArguments(e)
		p.open(from, p.helper("set", true))
	}
	p.write("function")
	p.settle(p.closure(line, method).inside(4))
	p.write(")")
}

// closure reads a function behind its name, or its word.
func (p *parser) closure(line int, method bool) size {
	p.enterFunction(line)
	p.beginBody()
	p.expect("(")
	p.parameters(method)
	p.expect(")")
	p.writeTick()
	p.block()
	p.body.more += p.function.registers / registersAStep
	p.endBody()
	levels, shared := p.function.levels, p.function.upvalues
	p.leaveFunction()
	p.share(shared)
	p.close("end", "function", line)
	return size{levels: 1 + levels, registers: 1}
}

// share counts what it takes to make a function that has such upvalues. For one that is a local
// of the function around it, Lua goes through those locals which other functions have as theirs:
// at most, through all.
func (p *parser) share(upvalues map[*variable]bool) {
	for v := range upvalues {
		if v.in == p.function {
			p.body.passed += len(p.function.locals)
		}
	}
}

func (p *parser) parameters(method bool) {
	if method {
		p.write("self")
		p.declare("self")
	}
	if p.sees(")") {
		return
	}
	if method {
		p.write(",")
	}
	for {
		switch {
		case p.now().Kind == Name:
			name := p.plainName()
			p.write(name)
			p.declare(name)
		case p.accept("..."):
			p.function.vararg = true
			p.declare("arg") // as Lua does
			return
		default:
			p.syntax("<name> or '...' expected")
		}
		if !p.accept(",") {
			return
		}
	}
}
