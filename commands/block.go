package commands

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/quorum"
)

// Block says of an Action that its client waits where the masters have nothing for it, as who asks by BLPOP and
// its kin does.
type Block struct {
	Keys []string      // under one of which something is waited for
	Type string        // of what it is waited for in: list or zset, as TYPE has it
	For  time.Duration // how long; 0 is for ever

	command *Command
	args    []string
}

const (
	typeList = "list"
	typeZset = "zset"
)

// BlockTypes are what Type may be.
var BlockTypes = [...]string{typeList, typeZset}

// BlockOver answers who has waited for nothing.
var BlockOver = Reply{Kind: NullArrayReply}

// Answer renders what is answered whatever the results are.
type Answer struct{ Reply Reply }

// Render is for Render.
func (a Answer) Render([]quorum.Result) (Reply, Action) { return a.Reply, Action{} }

// block is BLPOP and its kin. In MULTI nobody looks at Block.
func (s *Session) block(c *Command, args []string) Action {
	at := len(args) - 1
	if c.FirstKey == 0 {
		at = 1
	}
	wait, text := blockTime(args[at])
	if text != "" {
		text = cmp.Or(blockFault(c, args), text)
	}
	if text != "" {
		return refuse(text)
	}
	a := s.byScript(c, args)
	if len(a.Requests) > 0 {
		own := ofItsOwn(args)
		keys := c.keys(own)
		if c.moves() {
			keys = keys[:1]
		}
		a.Block = &Block{Keys: keys, Type: typeList, For: wait, command: c, args: own}
		if hasWord(c.Categories, "sortedset") {
			a.Block.Type = typeZset
		}
	}
	return a
}

// moves tells that an element is given to another key, and so lost by nobody who does not hear of it.
func (c *Command) moves() bool { return c.SecondKey != "" }

// blockFault is what is told of before a time that is wrong.
func blockFault(c *Command, args []string) string {
	isEnd := func(word string) bool { return sameWord(word, "LEFT") || sameWord(word, "RIGHT") }
	switch c.Name {
	case "blmpop":
		return popFault(args, isEnd)
	case "bzmpop":
		return popFault(args, func(word string) bool { return sameWord(word, "MIN") || sameWord(word, "MAX") })
	case "blmove":
		if !isEnd(args[3]) || !isEnd(args[4]) {
			return errSyntax
		}
	}
	return ""
}

func popFault(args []string, isEnd func(word string) bool) string {
	n, ok := parseInt(args[2])
	if !ok || n < 1 {
		return errNumKeys
	}
	if n >= int64(len(args)-3) {
		return errSyntax
	}
	where, options := args[3+n], args[4+n:]
	switch {
	case !isEnd(where), len(options) > 0 && (!sameWord(options[0], "COUNT") || len(options) == 1):
		return errSyntax
	case len(options) == 0:
		return ""
	}
	if count, ok := parseInt(options[1]); !ok || count < 1 {
		return errPopCount
	}
	if len(options) > 2 {
		return errSyntax
	}
	return ""
}

// popWords are a blocking command as the masters carry it out, who have nobody wait.
func popWords(c *Command, args []string) []string {
	keyed := func(name, where string) []string {
		keys := args[1 : len(args)-1]
		return append(slices.Insert(slices.Clone(keys), 0, name, strconv.Itoa(len(keys))), where)
	}
	switch c.Name {
	case "blpop":
		return keyed("LMPOP", "LEFT")
	case "brpop":
		return keyed("LMPOP", "RIGHT")
	case "bzpopmin":
		return keyed("ZMPOP", "MIN")
	case "bzpopmax":
		return keyed("ZMPOP", "MAX")
	case "blmove":
		return slices.Insert(slices.Clone(args[1:5]), 0, "LMOVE")
	case "brpoplpush":
		return slices.Insert(slices.Clone(args[1:3]), 0, "RPOPLPUSH")
	}
	return slices.Insert(slices.Clone(args[2:]), 0, strings.ToUpper(c.Name[1:])) // BLMPOP and BZMPOP
}

// wokenStep takes what ARGV says, and tells how many more there are. What is no such key any more is none for who waits
// already, as in Redis.
var wokenStep = quorum.NewExactStep(`local zset = ARGV[1] == 'ZMPOP'
if redis.call('TYPE', KEYS[1]).ok ~= (zset and 'zset' or 'list') then return false end
local r = redis.call(unpack(ARGV))
if not r then return false end
return {r, redis.call(zset and 'ZCARD' or 'LLEN', KEYS[1])}`)

// lookScript tells of a key that is none of the kind that ARGV is, unless one before it has something, and else nothing.
var lookScript = quorum.NewScript(`for i = 1, #KEYS do
	local t = redis.call('TYPE', KEYS[i]).ok
	if t == ARGV[1] then return false end
	if t ~= 'none' then return {err = ARGV[2]} end
end
return false`).ReadOnly()

// Look has the first request find nothing, whatever there is, but for what is wrong with its keys: others wait, and
// are served first.
func (b *Block) Look(r *quorum.Request) {
	r.Script, r.Keys, r.Args = lookScript, b.Keys, []string{b.Type, errWrongType}
}

// Again asks for what there is under one of Keys alone.
func (b *Block) Again(key string) (quorum.Request, Render) {
	words, keys := popWords(b.command, b.args), b.command.keys(b.args)
	if !b.command.moves() {
		words = slices.Replace(words, 1, 2+len(keys), "1", key)
		keys = []string{key}
	}
	return runOwn(wokenStep, keys, words, nil).Requests[0], woken{shapeOf(b.command, b.args)}
}

// Nothing tells of the result of the first request, or of one that was made by Again, that its client is to
// wait on.
func (b *Block) Nothing(r *quorum.Result) bool {
	won := r.Decision == quorum.Won || r.Decision == quorum.Contended
	return won && r.Script != nil && r.Script.Kind == quorum.NilReply
}

// Found tells of a result that somebody has got something, and no error.
func (b *Block) Found(r *quorum.Result) bool {
	return r.Decision == quorum.Won && r.Script != nil && r.Script.Kind != quorum.FailureReply && r.Script.Kind != quorum.NilReply
}

// More tells of the result of a request of Again that there is more under its key.
func (b *Block) More(r *quorum.Result) bool {
	return r.Script != nil && len(r.Script.Elems) == 2 && r.Script.Elems[1].Int > 0
}

// Returned are elements that a client was not told that he has got.
type Returned struct {
	Key      string
	Into     string   // the command by which they are given back
	Elements []string // as it has them: of a sorted set, scores and members
}

// Returned is what is to be given back of what a result tells. It is false where that is nothing.
func (b *Block) Returned(r *quorum.Result, again bool) (back Returned, some bool) {
	if r.Decision != quorum.Won || r.Script == nil || b.command.moves() {
		return back, false
	}
	reply := r.Script
	if again && len(reply.Elems) == 2 {
		reply = &reply.Elems[0]
	}
	if reply.Kind != quorum.ArrayReply || len(reply.Elems) != 2 {
		return back, false
	}
	back.Key, back.Into = reply.Elems[0].Str, "RPUSH"
	switch {
	case b.Type == typeZset:
		back.Into = "ZADD"
	case b.left():
		back.Into = "LPUSH"
	}
	for _, e := range slices.Backward(reply.Elems[1].Elems) {
		if b.Type == typeZset && len(e.Elems) == 2 {
			back.Elements = append(back.Elements, e.Elems[1].Str)
			e = e.Elems[0]
		}
		back.Elements = append(back.Elements, e.Str)
	}
	return back, true
}

// Size is about what it takes.
func (r *Returned) Size() (size int) {
	for _, e := range r.Elements {
		size += len(e)
	}
	return size
}

// Request asks to give them back.
func (r *Returned) Request() quorum.Request {
	words := []string{r.Into, r.Key}
	if r.Into == "ZADD" {
		words = append(words, "NX")
	}
	return runOwn(exactStep, []string{r.Key}, append(words, r.Elements...), nil).Requests[0]
}

// left tells that the first elements are taken, and not the last.
func (b *Block) left() bool {
	words := popWords(b.command, b.args)
	return sameWord(words[2+len(b.Keys)], "LEFT")
}

// woken renders what who waited has got.
type woken struct{ shape replyShape }

// Render is for Render.
func (w woken) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	switch text, failed := failureOfRun(r); {
	case failed:
		return text, Action{}
	case len(r.Script.Elems) != 2:
		return BlockOver, Action{}
	}
	return w.shape.reply(r.Script.Elems[0]), Action{}
}
