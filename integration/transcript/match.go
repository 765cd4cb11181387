package transcript

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

const (
	// Closed is the line of a connection that the server has closed.
	Closed = "(closed)"

	whatever = "..."
)

// checkWant tells whether a line of a reply can be understood.
func checkWant(want string) error {
	if want == Closed || want == whatever {
		return nil
	}
	if want == "" || !strings.Contains("+-:$_*%~>#,", want[:1]) {
		return fmt.Errorf("%q is no reply", want)
	}
	if pattern, ok := patternOf(want); ok {
		_, err := regexp.Compile(pattern)
		return err
	}
	_, err := Unescape(want)
	return err
}

func patternOf(want string) (string, bool) {
	if len(want) > 1 && want[1] == '~' && strings.Contains("+-$", want[:1]) {
		return "(?s)" + want[2:], true
	}
	return "", false
}

// bindings are what :{name} stood for.
type bindings map[string]string

// insert puts bound values into a word of a command.
func (b bindings) insert(word string) string {
	for name, value := range b {
		word = strings.ReplaceAll(word, "{"+name+"}", value)
	}
	return word
}

// match compares a reply with the lines wanted, and says what is wrong; "" if
// nothing is.
func (b bindings) match(want, got []string, proto int) string {
	for i, line := range want {
		if line == whatever {
			return ""
		}
		if i == len(got) {
			return fmt.Sprintf("the reply ends before %s", line)
		}
		if !b.matchLine(line, got[i], proto) {
			return fmt.Sprintf("got %s, want %s", Escape(got[i]), line)
		}
	}
	if len(got) > len(want) {
		return fmt.Sprintf("the reply goes on with %s", Escape(got[len(want)]))
	}
	return ""
}

func (b bindings) matchLine(want, got string, proto int) bool {
	if pattern, ok := patternOf(want); ok {
		return got != "" && got[0] == want[0] && regexp.MustCompile(pattern).MatchString(got[1:])
	}
	if want == "*?" {
		return got != "" && strings.Contains("*%~>", got[:1])
	}
	if strings.HasPrefix(want, ":") {
		return b.matchInteger(want[1:], got)
	}
	if proto == 2 {
		want = flattened(want)
	}
	text, err := Unescape(want)
	return err == nil && text == got
}

// matchInteger takes a number, a range of them, or the name that the number is
// bound to.
func (b bindings) matchInteger(want, got string) bool {
	if !strings.HasPrefix(got, ":") {
		return false
	}
	got = got[1:]
	if name, ok := strings.CutPrefix(want, "{"); ok {
		b[strings.TrimSuffix(name, "}")] = got
		return true
	}
	low, high, ranged := strings.Cut(want, "..")
	if !ranged {
		return want == got
	}
	n, err := strconv.ParseInt(got, 10, 64)
	from, err1 := strconv.ParseInt(low, 10, 64)
	to, err2 := strconv.ParseInt(high, 10, 64)
	return err == nil && err1 == nil && err2 == nil && from <= n && n <= to
}

// flattened is how RESP2 has the head of a map or set, and a double.
func flattened(want string) string {
	n, err := strconv.Atoi(want[1:])
	switch {
	case want[0] == ',':
		return "$" + want[1:]
	case err != nil:
		return want
	case want[0] == '%':
		return "*" + strconv.Itoa(2*n)
	case want[0] == '~', want[0] == '>':
		return "*" + want[1:]
	}
	return want
}
