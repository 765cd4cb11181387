package commands

// luaBalanced tells that a script ends no more blocks than it begins, at any
// point, and as many in all. Such a script can be put into a function without
// ending it. Whether it compiles is for the masters to say.
func luaBalanced(text string) bool {
	l := luaLexer{rest: text}
	depth := 0
	for {
		if !l.skip() {
			return false
		}
		if l.rest == "" {
			return depth == 0
		}
		switch c := l.rest[0]; {
		case luaLetter(c), c == '"', c == '\'', c == '[' && luaBracket(l.rest) > 0:
			token, ok := l.next()
			if !ok {
				return false
			}
			if token.kind != luaName {
				continue
			}
			switch token.text {
			case "function", "if", "do", "repeat":
				depth++
			case "end", "until":
				depth--
			}
			if depth < 0 {
				return false
			}
		default:
			l.take(1)
		}
	}
}
