package lua

import (
	"fmt"
	"strings"
)

// Error says why a text is not for masters.
type Error struct {
	Line int    // of the text, from 1
	Text string // one line: Redis's words for a text that does not compile, or what is not for lock scripts
}

// Error is both.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// What a text is refused for that Lua would run.
var (
	textTooLong   = fmt.Sprintf("the script is longer than %d bytes", maxText)
	tooManyTokens = fmt.Sprintf("the script has more than %d tokens", maxTokens)

	nameTooLong      = fmt.Sprintf("the script has a name of more than %d bytes", maxName)
	tooManyDifferent = fmt.Sprintf("the script has more than %d different names, strings and numbers", maxDifferent)
)

const (
	nulInText     = "a NUL is not for lock scripts"
	notForScripts = "'%s' is not for lock scripts"
	notAValue     = "the library '%s' is not for lock scripts but by a name in it"
	notAssigned   = "'%s' is not for lock scripts to assign to"
)

// What Lua refuses by its bounds, and we by ours.
const (
	tooDeep    = "chunk has too many syntax levels"
	tooComplex = "function or expression too complex"
	tooMany    = "%s has more than %d %s" // which function, how many, of what
)

// compiling is how Redis begins what Lua says of a text that does not compile.
const compiling = "Error compiling script (new function): user_script:%d: %s"

// notCompiled is what Redis answers for a text, as one line.
func notCompiled(line int, message string) *Error {
	message = strings.NewReplacer("\r", " ", "\n", " ").Replace(message)
	return &Error{line, fmt.Sprintf(compiling, line, message)}
}

func nearText(message, near string) string {
	near, _, _ = strings.Cut(near, "\x00") // to Lua's printf, that ends it
	return message + " near '" + near + "'"
}

func controlText(c byte) string { return fmt.Sprintf("char(%d)", c) }

func (l *lexer) fail(message, near string) {
	l.err = notCompiled(l.line, nearText(message, near))
}

func (l *lexer) failPlainly(text string) { l.err = &Error{l.line, text} }

// fail takes an error down, of which the first counts. Nothing more is read then: the
// parser finds itself at the end, where it takes no token and begins nothing.
func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
		p.tokens = p.tokens[len(p.tokens)-1:]
	}
}

// syntax refuses the token that is next, in Lua's words.
func (p *parser) syntax(message string) {
	if p.now().Kind == End && p.unread != nil {
		p.fail(p.unread)
		return
	}
	p.fail(notCompiled(p.now().Line, nearText(message, p.now().near())))
}

func (p *parser) expected(what string) { p.syntax("'" + what + "' expected") }

// beyond refuses what is beyond a bound that Lua has, too.
func (p *parser) beyond(message string) { p.fail(notCompiled(p.now().Line, message)) }

// refuse refuses what Lua would run.
func (p *parser) refuse(line int, format, name string) {
	p.fail(&Error{line, fmt.Sprintf(format, name)})
}
