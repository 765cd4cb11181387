package commands

import (
	"strconv"

	"redlock-proxy/commands/lua"
)

// luaParse returns a script's statements, false if it is not of this grammar.
func luaParse(text string) ([]luaStatement, bool) {
	if len(text) > luaMaxBytes {
		return nil, false
	}
	tokens, ok := luaTokens(text)
	if !ok {
		return nil, false
	}
	p := luaParser{tokens: tokens}
	block := p.block()
	return block, !p.bad && p.tokens[0].Kind == lua.End
}

// luaParser holds what is left to parse. Once bad, it takes nothing more, so
// that every loop over its tokens ends.
type luaParser struct {
	tokens []lua.Token
	depth  int
	locals int
	bad    bool
}

func (p *luaParser) fail() { p.bad = true }

// sees tells whether the next token is this symbol or reserved word.
func (p *luaParser) sees(text string) bool {
	t := p.tokens[0]
	return !p.bad && t.Text == text && luaWord(t)
}

// luaWord tells whether a token says what it is by its text.
func luaWord(t lua.Token) bool {
	return t.Kind == lua.Symbol || t.Kind == lua.Keyword || t.Kind == lua.Name
}

func (p *luaParser) accept(text string) bool {
	if !p.sees(text) {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *luaParser) expect(text string) {
	if !p.accept(text) {
		p.fail()
	}
}

// take takes a token of a kind. A goto is a name to Lua 5.1 alone.
func (p *luaParser) take(kind lua.Kind) string {
	t := p.tokens[0]
	if p.bad || t.Kind != kind || kind == lua.Name && t.Text == "goto" {
		p.fail()
		return ""
	}
	p.tokens = p.tokens[1:]
	return t.Text
}

func (p *luaParser) enter() {
	if p.depth++; p.depth > luaMaxDepth {
		p.fail()
	}
}

func (p *luaParser) leave() { p.depth-- }

// block takes statements up to the word that ends the block, which it leaves.
func (p *luaParser) block() []luaStatement {
	p.enter()
	defer p.leave()
	var block []luaStatement
	for !p.bad && p.tokens[0].Kind != lua.End && !p.sees("end") && !p.sees("else") && !p.sees("elseif") {
		if p.accept("return") {
			s := luaStatement{op: luaReturn}
			if p.tokens[0].Kind != lua.End && !p.sees("end") && !p.sees("else") && !p.sees("elseif") && !p.sees(";") {
				s.values = []luaExpr{p.expr(0)}
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

func (p *luaParser) statement() luaStatement {
	switch {
	case p.accept("if"):
		return p.conditional()
	case p.accept("do"):
		s := luaStatement{op: luaIf, arms: []luaArm{{luaExpr{op: luaConstant, value: luaBool(true)}, p.block()}}}
		p.expect("end")
		return s
	case p.accept("local"):
		s := luaStatement{op: luaLocal, names: p.names()}
		if p.locals += len(s.names); p.locals > luaMaxLocals {
			p.fail()
		}
		if p.accept("=") {
			s.values = p.values(len(s.names))
		}
		return s
	case p.sees("redis"):
		call := p.operand()
		if call.op != luaFunction {
			p.fail()
		}
		return luaStatement{op: luaCall, values: []luaExpr{call}}
	}
	// One name and one value: of several, Lua says not in which order it assigns.
	s := luaStatement{op: luaAssign, names: []string{p.name()}}
	p.expect("=")
	s.values = []luaExpr{p.expr(0)}
	return s
}

func (p *luaParser) conditional() luaStatement {
	s := luaStatement{op: luaIf}
	for {
		cond := p.expr(0)
		p.expect("then")
		s.arms = append(s.arms, luaArm{cond, p.block()})
		if !p.accept("elseif") {
			break
		}
	}
	if p.accept("else") {
		s.arms = append(s.arms, luaArm{luaExpr{op: luaConstant, value: luaBool(true)}, p.block()})
	}
	p.expect("end")
	return s
}

func (p *luaParser) names() []string {
	names := []string{p.name()}
	for p.accept(",") {
		names = append(names, p.name())
	}
	return names
}

func (p *luaParser) name() string {
	name := p.take(lua.Name)
	if luaGlobals[name] {
		p.fail()
	}
	return name
}

// values takes exactly n expressions: Lua would drop some or fill up with nil.
func (p *luaParser) values(n int) []luaExpr {
	values := []luaExpr{p.expr(0)}
	for p.accept(",") {
		values = append(values, p.expr(0))
	}
	if len(values) != n {
		p.fail()
	}
	return values
}

// expr takes an expression whose operators all bind tighter than priority.
func (p *luaParser) expr(priority int) luaExpr {
	p.enter()
	defer p.leave()
	left := p.operand()
	for !p.bad {
		t := p.tokens[0]
		binds := luaPriority[t.Text]
		if !luaWord(t) || binds <= priority {
			break
		}
		p.tokens = p.tokens[1:]
		left = luaExpr{op: luaBinary, text: t.Text, args: []luaExpr{left, p.expr(binds)}}
	}
	return left
}

func (p *luaParser) operand() luaExpr {
	switch {
	case p.bad:
		return luaExpr{}
	case p.accept("not"):
		return luaExpr{op: luaNot, args: []luaExpr{p.expr(luaPriority["+"])}}
	case p.accept("("):
		e := p.expr(0)
		p.expect(")")
		return e
	case p.accept("nil"):
		return luaExpr{op: luaConstant}
	case p.sees("true") || p.sees("false"):
		e := luaExpr{op: luaConstant, value: luaBool(p.sees("true"))}
		p.tokens = p.tokens[1:]
		return e
	case p.accept("-"):
		return luaExpr{op: luaConstant, value: luaInt(-p.number())}
	case p.accept("{"):
		return p.table()
	}
	switch p.tokens[0].Kind {
	case lua.Number:
		return luaExpr{op: luaConstant, value: luaInt(p.number())}
	case lua.String:
		return luaExpr{op: luaConstant, value: luaText(p.take(lua.String))}
	}
	return p.named()
}

func (p *luaParser) number() int64 {
	n, _ := strconv.ParseInt(p.take(lua.Number), 10, 64)
	return n
}

// named takes what begins with a name: a local, KEYS[…], ARGV[…] or a call.
func (p *luaParser) named() luaExpr {
	name := p.take(lua.Name)
	switch name {
	case "KEYS", "ARGV":
		p.expect("[")
		e := luaExpr{op: luaIndex, text: name, args: []luaExpr{p.expr(0)}}
		p.expect("]")
		return e
	case "redis":
		p.expect(".")
		name += "." + p.take(lua.Name)
		if !luaFunctions[name] {
			p.fail()
		}
	case "tonumber", "tostring":
	default:
		return luaExpr{op: luaVariable, text: name}
	}
	p.expect("(")
	args := []luaExpr{p.expr(0)}
	for p.accept(",") {
		args = append(args, p.expr(0))
	}
	p.expect(")")
	if len(args) > luaMaxArgs {
		p.fail()
	}
	return luaExpr{op: luaFunction, text: name, args: args}
}

// table takes the one field of a table whose brace is taken.
func (p *luaParser) table() luaExpr {
	e := luaExpr{op: luaTable}
	if p.accept("[") {
		e.text = p.take(lua.String)
		p.expect("]")
	} else {
		e.text = p.take(lua.Name)
	}
	p.expect("=")
	e.args = []luaExpr{p.expr(0)}
	if !p.accept(",") {
		p.accept(";")
	}
	p.expect("}")
	return e
}
