package commands

import (
	"fmt"
	"strings"
)

// What is shown of a client's command to others, by SLOWLOG and MONITOR: its name, its keys and
// the words of its options. A token frees the lock that it signs, and a value is the client's own
// affair: instead of whatever else it has given there is Redis's word for what is not shown.

const (
	redacted = "(redacted)"

	// maxShown is how many words are shown, and maxShownWord how many bytes of each: Redis's
	// bounds of an entry of SLOWLOG.
	maxShown     = 32
	maxShownWord = 128
)

// optionWords are the options of a command, from a word on, or from the first behind keys that are
// as many as another word says. What follows one of valued is its
// value, as are the two words behind one of paired. The first word that is none of them ends the
// options.
type optionWords struct {
	from                  int
	alone, valued, paired string
}

// shownOptions has the commands that have options, by the names of their rows.
var shownOptions = map[string]optionWords{
	"set":      {from: 3, alone: "nx xx get keepttl", valued: "ex px exat pxat ifeq ifne ifdeq ifdne"},
	"getex":    {from: 2, alone: "persist", valued: "ex px exat pxat"},
	"delex":    {from: 2, valued: "ifeq ifne ifdeq ifdne"},
	"expire":   {from: 3, alone: "nx xx gt lt"},
	"pexpire":  {from: 3, alone: "nx xx gt lt"},
	"expireat": {from: 3, alone: "nx xx gt lt"}, "pexpireat": {from: 3, alone: "nx xx gt lt"},
	"linsert": {from: 2, alone: "before after"},
	"lmove":   {from: 3, alone: "left right"}, "blmove": {from: 3, alone: "left right"},
	"lmpop": {alone: "left right", valued: "count"}, "zmpop": {alone: "min max", valued: "count"},
	"blmpop": {alone: "left right", valued: "count"}, "bzmpop": {alone: "min max", valued: "count"},
	"lpos":   {from: 3, valued: "rank count maxlen"},
	"zadd":   {from: 2, alone: "nx xx gt lt ch incr"},
	"zrange": {from: 4, alone: "byscore bylex rev withscores", paired: "limit"}, "zrevrange": {from: 4, alone: "withscores"},
	"zrangebyscore": {from: 4, alone: "withscores", paired: "limit"}, "zrevrangebyscore": {from: 4, alone: "withscores", paired: "limit"},
	"zrank": {from: 3, alone: "withscore"}, "zrevrank": {from: 3, alone: "withscore"},
	"scan": {from: 2, valued: "match count type"}, "hscan": {from: 3, valued: "match count"},
	"sscan": {from: 3, valued: "match count"}, "zscan": {from: 3, valued: "match count"},
	"copy": {from: 3, alone: "replace", valued: "db"}, "memory|usage": {from: 3, valued: "samples"},
	"flushall": {from: 1, alone: "async sync"}, "flushdb": {from: 1, alone: "async sync"},
	"script|flush": {from: 2, alone: "async sync"},
	"hello":        {from: 2, valued: "setname", paired: "auth"},
}

// shownWhole has the rows of which every word is shown, since none of them can be a token: they
// are numbers of databases and clients, names of sections, commands, masters and events.
var shownWhole = setOf("select info wait slowlog|get latency|histogram latency|history latency|reset latency|graph " +
	"command|count command|docs command|info command|list config|get client|list client|kill client|unblock client|reply " +
	"client|no-evict client|no-touch client|caching lock|admit lock|drain lock|resume " +
	"subscribe psubscribe ssubscribe unsubscribe punsubscribe sunsubscribe pubsub|channels pubsub|numsub pubsub|shardchannels pubsub|shardnumsub")

// Shown is what others may see of a command, name first. The words are copies.
func Shown(args []string) []string {
	c, _ := findCommand(args)
	may := mayShow(c, args)
	n := min(len(args), maxShown)
	shown := make([]string, n)
	for i := range shown {
		switch word := args[i]; {
		case i == maxShown-1 && len(args) > maxShown:
			shown[i] = fmt.Sprintf("... (%d more arguments)", len(args)-maxShown+1)
		case !may(i):
			shown[i] = redacted
		case len(word) > maxShownWord:
			shown[i] = fmt.Sprintf("%s... (%d more bytes)", word[:maxShownWord], len(word)-maxShownWord)
		default:
			shown[i] = strings.Clone(word)
		}
	}
	return shown
}

// mayShow tells of each word whether it may be shown: of a command that is not known, its name.
func mayShow(c *Command, args []string) func(i int) bool {
	named := 1
	if c != nil && c.parent != nil {
		named = 2
	}
	if c == nil || !c.arityFits(len(args)) {
		return func(i int) bool { return i < named }
	}
	if shownWhole[c.Name] {
		return func(int) bool { return true }
	}
	options := optionsIn(c, args)
	return func(i int) bool { return i < named || c.hasKeyAt(i, args) || options[i] }
}

// hasKeyAt tells whether a word is a key, the number of keys, or the channel of a message.
func (c *Command) hasKeyAt(i int, args []string) bool {
	switch {
	case c.Name == "publish", c.Name == "spublish":
		return i == 1
	case c.KeyFlags == "":
		return false
	case c.FirstKey == 0:
		return len(c.keys(args)) > 0 && i >= c.countAt() && i <= c.countAt()+len(c.keys(args))
	}
	last := c.LastKey
	if last < 0 {
		last += len(args)
	}
	return i >= c.FirstKey && i <= last && (i-c.FirstKey)%c.Step == 0
}

// optionsIn are the places of the words of options.
func optionsIn(c *Command, args []string) map[int]bool {
	o, has := shownOptions[c.Name]
	if !has {
		return nil
	}
	if c.FirstKey == 0 && c.KeyFlags != "" {
		keys := len(c.keys(args))
		if keys == 0 {
			return nil
		}
		o.from = c.countAt() + 1 + keys
	}
	places := make(map[int]bool)
	for i := o.from; i < len(args); i++ {
		word := lower(args[i])
		switch {
		case hasWord(o.alone, word):
			places[i] = true
		case hasWord(o.valued, word):
			places[i] = true
			i++
		case hasWord(o.paired, word):
			places[i] = true
			i += 2
		default:
			return places
		}
	}
	return places
}

func setOf(list string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}
