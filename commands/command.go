package commands

import (
	"cmp"
	"redlock-proxy/commands/glob"
	"slices"
	"strings"
	"sync"
)

// What is said of all commands is long, and always the same: clients share it.
var (
	described  = sync.OnceValue(func() Reply { return Array(describeAll(topLevel(), describe)...) })
	documented = sync.OnceValue(func() Reply { return Map(documentAll(topLevel())...) })
)

// command is COMMAND alone: all there is to say of every command.
func (s *Session) command(c *Command, args []string) Action { return Action{Reply: described()} }

func (s *Session) commandCount(c *Command, args []string) Action {
	return Action{Reply: Integer(int64(len(topLevel())))}
}

func (s *Session) commandInfo(c *Command, args []string) Action {
	if len(args) == 2 {
		return s.command(c, args)
	}
	var replies []Reply
	for _, name := range args[2:] {
		if row := rowNamed(name); row != nil {
			replies = append(replies, describe(row))
		} else {
			replies = append(replies, Null)
		}
	}
	return Action{Reply: Array(replies...)}
}

// commandDocs leaves out what it does not know.
func (s *Session) commandDocs(c *Command, args []string) Action {
	if len(args) == 2 {
		return Action{Reply: documented()}
	}
	var rows []*Command
	for _, name := range args[2:] {
		if row := rowNamed(name); row != nil {
			rows = append(rows, row)
		}
	}
	return Action{Reply: Map(documentAll(rows)...)}
}

func (s *Session) commandList(c *Command, args []string) Action {
	keep := func(*Command) bool { return true }
	rows := topLevel()
	if len(args) > 2 {
		if len(args) != 5 || !sameWord(args[2], "filterby") {
			return refuse(errSyntax)
		}
		word := lower(args[4])
		if len(word) > glob.MaxLength {
			return refuse(longPattern)
		}
		switch lower(args[3]) {
		case "module":
			keep = func(*Command) bool { return false }
		case "aclcat":
			keep = func(row *Command) bool { return slices.Contains(row.categories(), word) }
		case "pattern":
			glob := glob.New(word)
			keep = func(row *Command) bool { return glob.Match(row.Name) }
		default:
			return refuse(errSyntax)
		}
		rows = table
	}
	var names []Reply
	for _, row := range rows {
		if keep(row) {
			names = append(names, Bulk(row.Name))
		}
	}
	return Action{Reply: Array(names...)}
}

// commandGetKeys tells the keys of the command that follows, of which there may be much more
// than its keys, and which is not held until they are read.
func (s *Session) commandGetKeys(c *Command, args []string) Action {
	row, text := withKeys(args[2:])
	if text != "" {
		return refuse(text)
	}
	return Action{Reply: Array(describeAll(ofItsOwn(row.keys(args[2:])), Bulk)...)}
}

// commandGetKeysAndFlags also tells how each of them is used.
func (s *Session) commandGetKeysAndFlags(c *Command, args []string) Action {
	row, text := withKeys(args[2:])
	if text != "" {
		return refuse(text)
	}
	var replies []Reply
	for i, key := range ofItsOwn(row.keys(args[2:])) {
		replies = append(replies, Array(Bulk(key), Set(words(row.keyFlags(i, args[2:]), Simple)...)))
	}
	return Action{Reply: Array(replies...)}
}

// withKeys is the row of a command that has keys, or why it is none.
func withKeys(words []string) (row *Command, text string) {
	switch row, _ = findCommand(words); {
	case row == nil:
		return nil, errGetKeysCommand
	case row.KeyFlags == "":
		return nil, errGetKeysNone
	case !row.arityFits(len(words)):
		return nil, errGetKeysNumber
	case row.FirstKey == 0 && !row.HasFlag("no_mandatory_keys") && len(row.keys(words)) == 0:
		return nil, errGetKeysInvalid
	}
	return row, ""
}

// keyFlags are those of the i-th key of a call, counted from 0. Of some they vary with the options, and
// Redis tells none where it reads the number of the keys less strictly than other numbers.
func (c *Command) keyFlags(i int, args []string) string {
	if c.FirstKey == 0 {
		if _, strict := parseInt(args[c.countAt()]); !strict {
			return ""
		}
	}
	flags := c.KeyFlags
	if i == 1 && c.SecondKey != "" {
		flags = c.SecondKey
	}
	flags, varies := strings.CutSuffix(flags, " variable_flags")
	if varies && c.Name == "set" && !saysWord(args[3:], "GET") {
		return "OW update"
	}
	return flags
}

// keys are the keys in the words of a command whose arity fits; none where their
// number makes no sense.
func (c *Command) keys(words []string) (keys []string) {
	if c.FirstKey == 0 {
		at := c.countAt()
		n := leadingInt(words[at])
		if n < 0 || n > int64(len(words)-at-1) {
			return nil
		}
		return words[at+1:][:n]
	}
	last := c.LastKey
	if last < 0 {
		last += len(words)
	}
	for i := c.FirstKey; i <= last; i += c.Step {
		keys = append(keys, words[i])
	}
	return keys
}

// countAt is where the number of keys is.
func (c *Command) countAt() int { return cmp.Or(c.CountAt, 2) }

// names tells whether one of the keys is such a one. It runs before
// every command, and makes no list of them.
func (c *Command) names(words []string, such func(key string) bool) bool {
	switch {
	case c.KeyFlags == "":
		return false
	case c.FirstKey == 0 || c.LastKey < 0:
		return slices.ContainsFunc(c.keys(words), such)
	}
	for i := c.FirstKey; i <= c.LastKey; i += c.Step {
		if such(words[i]) {
			return true
		}
	}
	return false
}

// maxKeyName is how long the name of a key may be. Who gives a master back what it has lost,
// or lists keys, reads many names at once.
const maxKeyName = 64 << 10

func isLongName(key string) bool { return len(key) > maxKeyName }

func topLevel() []*Command {
	var rows []*Command
	for _, c := range table {
		if c.parent == nil {
			rows = append(rows, c)
		}
	}
	return rows
}

func describeAll[T any](items []T, describe func(T) Reply) []Reply {
	replies := make([]Reply, len(items))
	for i, item := range items {
		replies[i] = describe(item)
	}
	return replies
}
