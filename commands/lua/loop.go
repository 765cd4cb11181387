package lua

// A loop's condition is weighed with its body, since it is evaluated as often.

func (p *parser) beginLoop() {
	p.beginBody()
	p.function.loops++
}

func (p *parser) endLoop() {
	p.function.loops--
	p.endBody()
}

func (p *parser) whileLoop(line int) {
	p.beginLoop()
	p.condition("do")
	p.writeTick()
	p.block()
	p.endLoop()
	p.close("end", "while", line)
}

// repeatLoop: the condition still sees the locals of the body.
func (p *parser) repeatLoop(line int) {
	p.beginLoop()
	p.writeTick()
	outer := p.enterBlock()
	p.statements()
	p.close("until", "repeat", line)
	p.condition("")
	p.leaveBlock(outer)
	p.endLoop()
}

// Every for has three locals that have no name.
const hiddenInFor = 3

func (p *parser) forLoop(line int) {
	p.beginLoop()
	name := p.plainName()
	p.write(name)
	switch {
	case p.accept("="):
		p.count(name)
	case p.sees(","), p.sees("in"):
		p.iterate(name)
	default:
		p.syntax("'=' or 'in' expected")
	}
	p.endLoop()
	p.close("end", "for", line)
}

// count reads a numeric for behind the =.
func (p *parser) count(name string) {
	s := p.number(p.expression()).size
	p.expect(",")
	s = s.with(p.number(p.expression()).size.beside(1))
	if p.accept(",") {
		s = s.with(p.number(p.expression()).size.beside(2))
	}
	p.settle(s)
	p.turns(func() {
		v := p.declare(name)
		v.counter = !p.again[v.id]
	})
}

// iterate reads any other for behind its first name.
func (p *parser) iterate(name string) {
	names := []string{name}
	if p.accept(",") {
		names = append(names, p.names()...)
	}
	p.expect("in")
	s, _ := p.list()
	p.settle(s)
	p.turns(func() {
		for _, name := range names {
			p.declare(name)
		}
	})
}

// turns reads a for from its do on.
func (p *parser) turns(declare func()) {
	p.room(hiddenInFor)
	p.function.hidden += hiddenInFor
	p.expect("do")
	p.writeTick()
	outer := p.enterBlock()
	declare()
	p.statements()
	p.leaveBlock(outer)
	p.function.hidden -= hiddenInFor
}
