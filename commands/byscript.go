package commands

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
)

// What Redis does in one command and the masters have no words of their own for
// is put to them as a script of ours, journaled: they vote on what it did and
// what it answered, and what only a minority did is put back.

// maxWords bounds the words of such a command. Lua has room for some more on its
// stack.
const maxWords = 4000

// maxWritten bounds the bytes of one that writes: masters tell what became of its keys.
const maxWritten = 4 << 20

func bytesOf(args []string) (n int) {
	for _, arg := range args {
		n += len(arg)
	}
	return n
}

// plainScript and plainStep carry out the command that ARGV is, one that only reads
// and one that writes.
var (
	plainScript = quorum.NewScript("return redis.call(unpack(ARGV))").ReadOnly()
	plainStep   = quorum.NewStep("return redis.call(unpack(ARGV))")
	exactStep   = quorum.NewExactStep("return redis.call(unpack(ARGV))")
)

// countText carries out a command that counts. Lua has no whole numbers beyond 2^53:
// such a one is read again as a string.
const countText = `local r = redis.call(unpack(ARGV))
if math.abs(r) < 9007199254740992 then return r end
if ARGV[1] == 'HINCRBY' then return redis.call('HGET', KEYS[1], ARGV[3]) end
return redis.call('GET', KEYS[1])`

// Masters that count differently can be brought up to one number where the count is
// all that the key holds.
var (
	countUp    = quorum.NewCountUp(countText)
	countDown  = quorum.NewCountDown(countText)
	countField = quorum.NewStep(countText)
)

// counting is the script for a command that counts.
func counting(c *Command, args []string) *quorum.Script {
	down := strings.HasPrefix(c.Name, "decr")
	if len(args) > 2 && strings.HasPrefix(args[2], "-") {
		down = !down
	}
	switch {
	case c.Name == "hincrby":
		return countField
	case down:
		return countDown
	}
	return countUp
}

// isExact tells that what a command answers is a part of what there is, or how much, so that masters
// may answer alike which hold different lists, or sets of which some were taken before.
func (c *Command) isExact() bool {
	return hasWord(c.Categories, "list") || strings.Contains(c.Name, "pop")
}

// byScript is a command that the masters carry out as it is. Its arguments are
// theirs to judge.
func (s *Session) byScript(c *Command, args []string) Action {
	if len(args) > maxWords {
		return refusef(errTooManyWords, c.Name, maxWords)
	}
	script, shape := plainStep, shapeOf(c, args)
	if c.HasFlag("readonly") {
		script = plainScript
	} else if bytesOf(args) > maxWritten {
		return refusef(errTooManyBytes, c.Name, maxWritten)
	}
	switch {
	case script == plainStep && c.isExact():
		script = exactStep
	case shape == asCount:
		script = counting(c, args)
	}
	keys := c.keys(args)
	if c.HasFlag("readonly") && c.parent == nil && s.watches(keys[0]) {
		return s.readWatched(keys[0], masterWords(c, args), shape)
	}
	if c.FirstKey == 0 {
		keys = slices.Clone(keys) // which are of args, and those the server's
	}
	return runOwn(script, keys, masterWords(c, args), carried{shape})
}

// masterWords are a command as the masters are to carry it out.
func masterWords(c *Command, args []string) []string {
	switch c.Name {
	case "hvals":
		return []string{"HGETALL", args[1]} // of which the values come in the fields' order
	case "spop", "srandmember":
		return slices.Insert(slices.Clone(args), 2, strconv.FormatUint(rand.Uint64(), 36))
	case "copy":
		return slices.Clone(withoutDB(args))
	}
	if c.HasFlag("blocking") {
		return popWords(c, args)
	}
	return slices.Clone(args)
}

// runOwn puts a script of ours.
func runOwn(script *quorum.Script, keys, args []string, render Render) Action {
	r := quorum.Request{Kind: quorum.Run, Script: script, Keys: keys, Args: args}
	if len(keys) > 0 {
		r.Key = keys[0]
	}
	return Action{Requests: []quorum.Request{r}, Render: render}
}

// replyShape is what a reply of the masters is for the client. A script has only
// RESP2's types, and some replies are another one in RESP3.
type replyShape uint8

const (
	asItIs        replyShape = iota + 1
	asMap                    // HGETALL
	asList                   // LPOP with a count, of which nothing is no list
	asSet                    // SMEMBERS
	asCount                  // INCR: a number, maybe as a string
	asDouble                 // ZSCORE
	asScorePairs             // ZRANGE WITHSCORES: member, score, member, score
	asDoubles                // ZMSCORE: scores, or nil
	asRank                   // ZRANK WITHSCORE: rank and score
	asValues                 // HVALS: those of a map
	asOnePair                // ZPOPMIN: member and score
	asKeyPairs               // ZMPOP: the key, and pairs of member and score
	asKeyList                // LMPOP: the key, and elements
	asPopped                 // BLPOP: of the keys and their elements the only one
	asPoppedScore            // BZPOPMIN: the same, with its score
)

func shapeOf(c *Command, args []string) replyShape {
	switch {
	case c.Name == "incr", c.Name == "incrby", c.Name == "decr", c.Name == "decrby", c.Name == "hincrby":
		return asCount
	case c.Name == "hgetall":
		return asMap
	case (c.Name == "lpop" || c.Name == "rpop") && len(args) > 2:
		return asList
	case c.Name == "hvals":
		return asValues
	case c.Name == "lmpop", c.Name == "blmpop":
		return asKeyList
	case c.Name == "zmpop", c.Name == "bzmpop":
		return asKeyPairs
	case (c.Name == "zpopmin" || c.Name == "zpopmax") && len(args) > 2:
		return asScorePairs
	case c.Name == "zpopmin", c.Name == "zpopmax":
		return asOnePair
	case c.Name == "blpop", c.Name == "brpop":
		return asPopped
	case c.Name == "bzpopmin", c.Name == "bzpopmax":
		return asPoppedScore
	case c.Name == "smembers", c.Name == "spop" && len(args) > 2:
		return asSet
	case c.Name == "zscore", c.Name == "zincrby", c.Name == "zadd" && saysWord(args[2:], "INCR"):
		return asDouble
	case c.Name == "zmscore":
		return asDoubles
	case slices.Contains([]string{"zrange", "zrevrange", "zrangebyscore", "zrevrangebyscore"}, c.Name) && saysWord(args[4:], "WITHSCORES"):
		return asScorePairs
	case (c.Name == "zrank" || c.Name == "zrevrank") && len(args) > 3:
		return asRank
	}
	return asItIs
}

func saysWord(words []string, word string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return sameWord(w, word) })
}

// reply gives a master's reply this shape. One of another form than expected, as
// an error is, stays what it is.
func (sh replyShape) reply(r quorum.ScriptReply) Reply {
	reply := scriptReply(r)
	switch {
	case sh == asCount && reply.Kind == BulkReply:
		if n, ok := parseInt(reply.Str); ok {
			return Integer(n)
		}
	case sh == asDouble && reply.Kind == BulkReply:
		reply.Kind = DoubleReply
	case (sh == asList || sh == asRank || sh >= asKeyPairs) && reply.Kind == NullReply:
		reply.Kind = NullArrayReply
	case reply.Kind != ArrayReply:
	case sh == asOnePair:
		asDoubled(reply.Elems)
	case sh == asKeyPairs && len(reply.Elems) == 2:
		for i := range reply.Elems[1].Elems {
			asDoubled(reply.Elems[1].Elems[i].Elems)
		}
	case sh == asPopped && len(reply.Elems) == 2:
		reply.Elems = append(reply.Elems[:1], reply.Elems[1].Elems...)
	case sh == asPoppedScore && len(reply.Elems) == 2 && len(reply.Elems[1].Elems) == 1:
		reply.Elems = append(reply.Elems[:1], asDoubled(reply.Elems[1].Elems[0].Elems)...)
	case sh == asDoubles, sh == asRank:
		for i := range reply.Elems {
			if reply.Elems[i].Kind == BulkReply {
				reply.Elems[i].Kind = DoubleReply
			}
		}
	case sh == asValues && len(reply.Elems)%2 == 0:
		values := reply.Elems[:0]
		for i := 1; i < len(reply.Elems); i += 2 {
			values = append(values, reply.Elems[i])
		}
		reply.Elems = values
	case sh == asMap && len(reply.Elems)%2 == 0:
		reply.Kind = MapReply
	case sh == asSet:
		reply.Kind = SetReply
	case sh == asScorePairs && len(reply.Elems)%2 == 0:
		for i := 1; i < len(reply.Elems); i += 2 {
			reply.Elems[i].Kind = DoubleReply
		}
		reply.Kind = PairsReply
	}
	return reply
}

// asDoubled is a member with its score.
func asDoubled(pair []Reply) []Reply {
	if len(pair) == 2 && pair[1].Kind == BulkReply {
		pair[1].Kind = DoubleReply
	}
	return pair
}

// carried renders the reply of one of our own scripts. An error in it reads as if
// the command had been called alone.
type carried struct{ shape replyShape }

func (c carried) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	if text, failed := failureOfRun(r); failed {
		return text, Action{}
	}
	return c.shape.reply(*r.Script), Action{}
}

// failureOfRun is the error of a result of one of our scripts, if it is one.
func failureOfRun(r quorum.Result) (Reply, bool) {
	switch text, failed := failure(r); {
	case failed:
		return text, true
	case r.Script == nil:
		return unavailable(r), true
	case r.Script.Kind == quorum.FailureReply:
		return Error(oneLine(strings.TrimRight(r.Script.Str, "\r\n"))), true
	}
	return Reply{}, false
}
