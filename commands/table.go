package commands

import "strings"

// Command is one row of the table of commands: what dispatch, the check of the
// arity, COMMAND INFO and the statistics know of a command. The prose of COMMAND DOCS and HELP
// is in docs.json, by the row's name.
// Rows are shared and must not be changed.
type Command struct {
	// Name is lower case; a subcommand's is "client|list".
	Name string

	// Index is the row's place in Table, so that whoever counts commands can
	// keep an array.
	Index int

	// Arity counts the words of the command, name included. A negative one is
	// a minimum.
	Arity int

	// Flags, Categories, KeyFlags and Tips are words separated by one space,
	// as COMMAND INFO shows them. KeyFlags has several keys' own behind each other, with a
	// semicolon in between, where they are not used alike.
	Flags, Categories, KeyFlags, Tips string

	// SecondKey is the KeyFlags of the second key of two that are not used alike; else "".
	SecondKey string

	// FirstKey, LastKey and Step say where the keys are; LastKey is -1 where
	// all further arguments are keys. All zero: no keys, or (with KeyFlags) as
	// many as the number in front of them says.
	FirstKey, LastKey, Step int

	// CountAt is where the number of keys is, in front of them, if that is not the third word.
	CountAt int

	// LastShard is where the last channel of a shard's is, of which COMMAND INFO tells as of keys that
	// are none, from the first argument on; 0: none.
	LastShard int

	// Subcommands makes the row a container: it is carried out by one of
	// them, or by the row itself if it was called alone.
	Subcommands []*Command

	parent *Command
	anyone bool   // it can be called before AUTH, and by users without a right
	verb   string // the command's first word, in the one spelling that the masters get
	do     func(s *Session, c *Command, args []string) Action
}

// longestName bounds the names that are looked up.
const longestName = 32

// table holds every row, subcommands after their container, and byName the same
// rows by name. They are filled at init and read only afterwards: the handlers in
// the rows read the table themselves, which an initialiser could not express.
var (
	table  []*Command
	byName = make(map[string]*Command)
)

func init() {
	for _, rows := range [][]*Command{lockRows, scriptRows, connectionRows, pubsubRows, serverRows,
		stringRows, hashRows, listRows, setRows, zsetRows, keyspaceRows, transactionRows, aclRows, toolRows, operatorRows} {
		for _, c := range rows {
			enterRow(c)
			for _, sub := range c.Subcommands {
				sub.parent = c
				enterRow(sub)
			}
		}
	}
}

func enterRow(c *Command) {
	c.Index = len(table)
	first, _, _ := strings.Cut(c.Name, "|")
	c.verb, c.anyone = strings.ToUpper(first), c.HasFlag("no_auth")
	table = append(table, c)
	byName[c.Name] = c
}

// Table is all rows, in the order of their Index. It must not be changed.
func Table() []*Command { return table }

// HasFlag tells whether flag is one of the row's Flags.
func (c *Command) HasFlag(flag string) bool { return hasWord(c.Flags, flag) }

// arityFits tells whether n words are as many as the command takes.
func (c *Command) arityFits(n int) bool {
	return n == c.Arity || c.Arity < 0 && n >= -c.Arity
}

// findCommand finds the row of a command. container is set if the name is that of
// a container whose subcommand is not known.
func findCommand(args []string) (found, container *Command) {
	c := rowNamed(args[0])
	if c == nil || len(c.Subcommands) == 0 || len(args) == 1 {
		return c, nil
	}
	for _, sub := range c.Subcommands {
		if sameWord(sub.word(), args[1]) {
			return sub, nil
		}
	}
	return nil, c
}

// rowNamed finds the row of this name, in any case.
func rowNamed(name string) *Command {
	if len(name) > longestName {
		return nil
	}
	var buf [longestName]byte
	for i := range len(name) {
		buf[i] = lowerByte(name[i])
	}
	return byName[string(buf[:len(name)])]
}

// typed is how a client calls the row, in upper case: "CLIENT LIST" for "client|list".
func (c *Command) typed() string { return strings.ToUpper(strings.ReplaceAll(c.Name, "|", " ")) }

// word is what a client says for the row: "list" for "client|list".
func (c *Command) word() string {
	if c.parent == nil {
		return c.Name
	}
	return c.Name[len(c.parent.Name)+1:]
}
