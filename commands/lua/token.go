package lua

// Kind is what a token is.
type Kind uint8

// The kinds of Lua 5.1's grammar.
const (
	Name    Kind = iota + 1
	Keyword      // and, break, … while: goto is a Name
	Number       // a numeral as it is spelled, such as 0x1F
	String       // in quotes or long brackets
	Symbol       // also a byte that Lua has no use for
	End          // behind the last token
)

// Token is one token of a text.
type Token struct {
	Kind   Kind
	Text   string // a string's value, everything else as it is spelled
	Source string // how it is spelled
	Line   int    // on which it ends: that is the line which Lua puts into errors
}

// is tells whether the token is this symbol or keyword.
func (t Token) is(text string) bool {
	return t.Text == text && (t.Kind == Symbol || t.Kind == Keyword)
}

// near is how Lua shows a token in an error.
func (t Token) near() string {
	switch {
	case t.Kind == End:
		return "<eof>"
	case t.Kind == String:
		quote := 1
		if t.Source[0] == '[' {
			quote = bracket(t.Source)
		}
		return t.Source[:quote] + t.Text + t.Source[len(t.Source)-quote:]
	case t.Kind == Symbol && isControl(t.Text[0]):
		return controlText(t.Text[0])
	}
	return t.Text
}

// keywords are those of Lua 5.1, to which goto is a name.
var keywords = words("and break do else elseif end false for function if in local nil not or repeat return then true until while")
