package lua

// This file reads operators. What they do with strings costs what those are long, and a
// string counts as a number, too: so operands are guarded, but for those that are no
// strings whatever they come to.

// priorities are how tightly an operator binds to its left and to its right.
var priorities = map[string]struct{ left, right int }{
	"or": {1, 1}, "and": {2, 2},
	"==": {3, 3}, "~=": {3, 3}, "<": {3, 3}, "<=": {3, 3}, ">": {3, 3}, ">=": {3, 3},
	"..": {5, 4}, // "a".."b".."c" is "a"..("b".."c")
	"+":  {6, 6}, "-": {6, 6}, "*": {7, 7}, "/": {7, 7}, "%": {7, 7},
	"^": {10, 9},
}

const unaryPriority = 8

// comparisons are the helpers that stand in the place of operators.
var comparisons = map[string]string{"<": "less", "<=": "lessequal", ">": "greater", ">=": "greaterequal"}

func (p *parser) expression() expression { return p.operation(0) }

// operation reads an expression whose operators all bind tighter than a priority.
func (p *parser) operation(priority int) expression {
	p.enter()
	defer p.leave()
	e := p.unary()
	for {
		op := p.now()
		binds := priorities[op.Text]
		if op.Kind != Symbol && op.Kind != Keyword || binds.left <= priority {
			return e
		}
		switch op.Text {
		case "..":
			e = p.concatenation(e)
		case "+", "-", "*", "/", "%", "^":
			left := p.number(e)
			p.accept(op.Text)
			right := p.number(p.operation(binds.right))
			e = expression{kind: value, from: left.from, number: true, size: left.size.with(right.size.inside(1))}
		case "<", "<=", ">", ">=":
			e = p.comparison(e, op.Text)
		default:
			p.accept(op.Text)
			right := p.operation(binds.right)
			jumps := 0
			if op.Kind == Keyword {
				jumps = e.jumps + right.jumps + 1
				p.jumps(jumps)
			}
			e = expression{kind: value, from: e.from, jumps: jumps, size: e.size.with(right.size.inside(1))}
		}
	}
}

func (p *parser) unary() expression {
	op, from := p.now(), len(p.out)
	switch {
	case p.accept("-"):
		e := p.number(p.operation(unaryPriority))
		return expression{kind: value, from: from, number: true, size: e.size.inside(0)}
	case p.accept("not"), p.accept("#"):
		e := p.operation(unaryPriority)
		return expression{kind: value, from: from, number: op.is("#"), jumps: e.jumps, size: e.size.inside(0)}
	}
	return p.operand()
}

// number guards what is calculated with.
func (p *parser) number(e expression) expression {
	if e.number {
		return e
	}
	p.wrap(e.from, p.helper("number", true))
	return expression{kind: value, from: e.from, size: e.size.inside(1)}
}

func (p *parser) comparison(left expression, op string) expression {
	p.skip(op)
	at := p.write(op)
	right := p.operation(priorities[op].right)
	if left.number || right.number {
		return expression{kind: value, from: left.from, size: left.size.with(right.size.inside(1))}
	}
	p.out[at].text = ","
	p.wrap(left.from, p.helper(comparisons[op], true))
	return expression{kind: value, from: left.from, alone: true, size: left.size.inside(1).with(right.size.inside(2))}
}

// maxJoined is how many operands one call joins.
const maxJoined = 12

// concatenation reads what is concatenated to the first of its operands. Further than one
// call goes, the rest is an operand of it, as it is to Lua.
func (p *parser) concatenation(first expression) expression {
	operands := []expression{first}
	for p.skip("..") {
		p.enter()
		p.write(",")
		operands = append(operands, p.operation(priorities[".."].left))
	}
	p.depth -= len(operands) - 1
	p.one(operands[len(operands)-1])
	e := expression{kind: value, from: first.from, alone: true}
	for calls, held := 1, 1; len(operands) > 0; calls++ {
		p.wrap(operands[0].from, p.helper("join", true))
		n := len(operands)
		if n > maxJoined {
			n = maxJoined - 1
		}
		for _, operand := range operands[:n] {
			e.size = e.size.with(size{operand.size.levels + calls, operand.size.registers + held})
			held++
		}
		held++
		operands = operands[n:]
	}
	return e
}
