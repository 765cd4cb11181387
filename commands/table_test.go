package commands

import (
	"strings"
	"testing"
)

func TestTableIsConsistent(t *testing.T) {
	names := make(map[string]bool)
	for i, c := range Table() {
		if c.Index != i {
			t.Errorf("%s has index %d at place %d", c.Name, c.Index, i)
		}
		if names[c.Name] {
			t.Errorf("%s is there twice", c.Name)
		}
		names[c.Name] = true
		switch {
		case c.Name != strings.ToLower(c.Name), len(c.Name) > longestName:
			t.Errorf("%s cannot be looked up", c.Name)
		case c.Arity == 0, c.Categories == "":
			t.Errorf("%s lacks something: %+v", c.Name, c)
		case c.do == nil && len(c.Subcommands) == 0:
			t.Errorf("%s is carried out by nobody", c.Name)
		case c.do == nil && c.Arity != -2:
			t.Errorf("%s needs a subcommand, and its arity is %d", c.Name, c.Arity)
		case c.FirstKey > 0 && (c.Step < 1 || c.KeyFlags == "" || c.Arity < 0 && -c.Arity <= c.FirstKey):
			t.Errorf("%s has keys nowhere", c.Name)
		}
		for _, word := range strings.Fields(strings.Join([]string{c.Flags, c.Categories, c.KeyFlags, c.Tips}, " ")) {
			if word != strings.ToLower(word) && len(word) != 2 {
				t.Errorf("%s: %q is no word of Redis's", c.Name, word)
			}
		}
		if rowNamed(strings.ToUpper(c.Name)) != c {
			t.Errorf("%s is not found in upper case", c.Name)
		}
	}
}

// A command's handler may count on the words that the arity promises.
func TestHandlersGetAlongWithAsFewWordsAsAllowed(t *testing.T) {
	for _, c := range Table() {
		if c.do == nil {
			continue
		}
		n := c.Arity
		if n < 0 {
			n = -n
		}
		for _, extra := range []int{0, 1, 2, 3, 4} {
			if extra > 0 && len(c.Subcommands) > 0 {
				break // the next word would be a subcommand's
			}
			words := append(strings.Split(c.Name, "|"), "1", "1", "1", "1", "1", "1", "1", "1")[:n]
			for range extra {
				words = append(words, "x")
			}
			a := NewDialect(Options{Users: everybodyOperates}).Session(1).Do(words)
			if a.Command != c {
				t.Errorf("%q is carried out by another than %s", words, c.Name)
			}
			if a.Rejected != !c.arityFits(len(words)) {
				t.Errorf("%q: rejected %t, %q", words, a.Rejected, a.Reply.Str)
			}
		}
	}
}

func TestWritesAreFlaggedAsSuch(t *testing.T) {
	for _, c := range Table() {
		if c.Name == "watch" {
			continue // it has keys, and neither reads nor writes them for the client
		}
		if c.HasFlag("write") == c.HasFlag("readonly") && (c.HasFlag("write") || c.FirstKey > 0) {
			t.Errorf("%s: flags %q", c.Name, c.Flags)
		}
	}
}
