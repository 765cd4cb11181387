package recognise

import (
	"strconv"

	"redlock-proxy/commands/lua"
)

// parse returns a script's statements, false if it is not of this grammar.
func parse(text string) ([]statement, bool) {
	if len(text) > maxBytes {
		return nil, false
	}
	tokens, ok := tokensOf(text)
	if !ok {
		return nil, false
	}
	p := parser{tokens: tokens}
	block := p.block()
	return block, !p.bad && p.tokens[0].Kind == lua.End
}

// parser holds what is left to parse. Once bad, it takes nothing more, so
// that every loop over its tokens ends.
type parser struct {
	tokens []lua.Token
	line   int // of what was taken last by take
	depth  int
	locals int
	bad    bool
}

func (p *parser) fail() { p.bad = true }

// sees tells whether the next token is this symbol or reserved word.
func (p *parser) sees(text string) bool {
	t := p.tokens[0]
	return !p.bad && t.Text == text && isWord(t)
}

// isWord tells whether a token says what it is by its text.
func isWord(t lua.Token) bool {
	return t.Kind == lua.Symbol || t.Kind == lua.Keyword || t.Kind == lua.Name
}

func (p *parser) accept(text string) bool {
	if !p.sees(text) {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail()
	}
}

// take takes a token of a kind. A goto is a name to Lua 5.1 alone.
func (p *parser) take(kind lua.Kind) string {
	t := p.tokens[0]
	if p.bad || t.Kind != kind || kind == lua.Name && t.Text == "goto" {
		p.fail()
		return ""
	}
	p.tokens, p.line = p.tokens[1:], t.Line
	return t.Text
}

func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.fail()
	}
}

func (p *parser) leave() { p.depth-- }

// block takes statements up to the word that ends the block, which it leaves.
func (p *parser) block() []statement {
	p.enter()
	defer p.leave()
	var block []statement
	for !p.bad && p.tokens[0].Kind != lua.End && !p.sees("end") && !p.sees("else") && !p.sees("elseif") {
		if p.accept("return") {
			s := statement{op: returnStatement}
			if p.tokens[0].Kind != lua.End && !p.sees("end") && !p.sees("else") && !p.sees("elseif") && !p.sees(";") {
				s.values = []expression{p.expression(0)}
			}
			p.accept(";")
			// Lua wants a return to be the last of its block.
			return append(block, s)
		}
		block = append(block, p.statement())
		p.accept(";")
	}
	return block
}

func (p *parser) statement() statement {
	switch {
	case p.accept("if"):
		return p.conditional()
	case p.accept("do"):
		s := statement{op: ifStatement, arms: []arm{{expression{op: constantExpression, value: booleanValue(true)}, p.block()}}}
		p.expect("end")
		return s
	case p.accept("local"):
		s := statement{op: localStatement, names: p.names()}
		if p.locals += len(s.names); p.locals > maxLocals {
			p.fail()
		}
		if p.accept("=") {
			s.values = p.values(len(s.names))
		}
		return s
	case p.sees("redis"):
		call := p.operand()
		if call.op != functionExpression {
			p.fail()
		}
		return statement{op: callStatement, values: []expression{call}}
	}
	// One name and one value: of several, Lua says not in which order it assigns.
	s := statement{op: assignStatement, names: []string{p.name()}}
	p.expect("=")
	s.values = []expression{p.expression(0)}
	return s
}

func (p *parser) conditional() statement {
	s := statement{op: ifStatement}
	for {
		cond := p.expression(0)
		p.expect("then")
		s.arms = append(s.arms, arm{cond, p.block()})
		if !p.accept("elseif") {
			break
		}
	}
	if p.accept("else") {
		s.arms = append(s.arms, arm{expression{op: constantExpression, value: booleanValue(true)}, p.block()})
	}
	p.expect("end")
	return s
}

func (p *parser) names() []string {
	names := []string{p.name()}
	for p.accept(",") {
		names = append(names, p.name())
	}
	return names
}

func (p *parser) name() string {
	name := p.take(lua.Name)
	if globals[name] {
		p.fail()
	}
	return name
}

// values takes exactly n expressions: Lua would drop some or fill up with nil.
func (p *parser) values(n int) []expression {
	values := []expression{p.expression(0)}
	for p.accept(",") {
		values = append(values, p.expression(0))
	}
	if len(values) != n {
		p.fail()
	}
	return values
}

// expression takes an expression whose operators all bind tighter than priority.
func (p *parser) expression(priority int) expression {
	p.enter()
	defer p.leave()
	left := p.operand()
	for !p.bad {
		t := p.tokens[0]
		binds := priorities[t.Text]
		if !isWord(t) || binds <= priority {
			break
		}
		p.tokens = p.tokens[1:]
		left = expression{op: binaryExpression, text: t.Text, args: []expression{left, p.expression(binds)}}
	}
	return left
}

func (p *parser) operand() expression {
	switch {
	case p.bad:
		return expression{}
	case p.accept("not"):
		return expression{op: notExpression, args: []expression{p.expression(priorities["+"])}}
	case p.accept("("):
		e := p.expression(0)
		p.expect(")")
		return e
	case p.accept("nil"):
		return expression{op: constantExpression}
	case p.sees("true") || p.sees("false"):
		e := expression{op: constantExpression, value: booleanValue(p.sees("true"))}
		p.tokens = p.tokens[1:]
		return e
	case p.accept("-"):
		return expression{op: constantExpression, value: numberValue(-p.number())}
	case p.accept("{"):
		return p.table()
	}
	switch p.tokens[0].Kind {
	case lua.Number:
		return expression{op: constantExpression, value: numberValue(p.number())}
	case lua.String:
		return expression{op: constantExpression, value: stringValue(p.take(lua.String))}
	}
	return p.named()
}

func (p *parser) number() int64 {
	n, _ := strconv.ParseInt(p.take(lua.Number), 10, 64)
	return n
}

// named takes what begins with a name: a local, KEYS[…], ARGV[…] or a call.
func (p *parser) named() expression {
	name := p.take(lua.Name)
	switch name {
	case "KEYS", "ARGV":
		p.expect("[")
		e := expression{op: indexExpression, text: name, args: []expression{p.expression(0)}}
		p.expect("]")
		return e
	case "redis":
		p.expect(".")
		name += "." + p.take(lua.Name)
		if !functions[name] {
			p.fail()
		}
	case "tonumber", "tostring":
	default:
		return expression{op: variableExpression, text: name}
	}
	if p.tokens[0].Line != p.line { // Lua 5.1 takes it for ambiguous
		p.fail()
	}
	p.expect("(")
	args := []expression{p.expression(0)}
	for p.accept(",") {
		args = append(args, p.expression(0))
	}
	p.expect(")")
	if len(args) > maxArgs {
		p.fail()
	}
	return expression{op: functionExpression, text: name, args: args}
}

// table takes the one field of a table whose brace is taken.
func (p *parser) table() expression {
	e := expression{op: tableExpression}
	if p.accept("[") {
		e.text = p.take(lua.String)
		p.expect("]")
	} else {
		e.text = p.take(lua.Name)
	}
	p.expect("=")
	e.args = []expression{p.expression(0)}
	if !p.accept(",") {
		p.accept(";")
	}
	p.expect("}")
	return e
}
