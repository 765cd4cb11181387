package commands

import (
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/commands/lua"
)

// Who may not call everything may run a script only if he may call whatever it calls. That is known before it
// runs where the script says so in literals, or by arguments that it was given; where it does not, it may call
// all that a script can.

// scriptCommands are all that the masters let a script call, as quorum/journal has them.
var scriptCommands = strings.Fields(`get hexists hget type zscore zcard zcount strlen hlen sismember scard getrange hgetall hmget hkeys
	hvals smembers smismember zrange zrevrange zrangebyscore zrevrangebyscore zrank zrevrank exists mget pttl ttl select echo time ping
	hincrby hset zadd hmset zincrby incr incrby decr decrby getset append pexpire expire pexpireat expireat set getex del unlink hdel
	srem zrem zremrangebyscore zremrangebyrank getdel setnx hsetnx sadd persist setex psetex mset msetnx publish spublish
	llen lindex lrange lpos lpush rpush lpushx rpushx lpop rpop lrem lset ltrim linsert lmove rpoplpush
	hstrlen zmscore touch expiretime pexpiretime rename renamenx copy spop zpopmin zpopmax lmpop zmpop srandmember hscan sscan zscan
	object|encoding object|freq object|idletime object|refcount memory|usage`)

// maxCalls is how many calls of a script are told apart, and maxList for how many tokens it is looked whether a
// list is one that is assigned to.
const (
	maxCalls = 256
	maxList  = 256
)

// scriptCalls is what a script calls.
type scriptCalls struct {
	calls   []scriptCall
	any     bool // it may call everything, with any argument
	gathers bool // a literal in it is the name of what gathers, see scriptshares.go
}

// calls are those of a script, of which one that is not known stands for all. They are read where
// they are first needed.
func (sc *script) calls() []scriptCall {
	sc.read.Do(func() {
		if sc.called = callsOf(sc.text); sc.called.any || len(sc.called.calls) > maxCalls {
			sc.called.calls = []scriptCall{{}}
		}
	})
	return sc.called.calls
}

// scriptCall is one call: its command, and its first two arguments, if they are told; whether the first has no other
// behind it, and whether it is none that was given, but made up.
type scriptCall struct {
	command, first, second word
	alone, made            bool
}

// reaches tells that a script may use keys that it was not given: not every call names its keys by their places
// in KEYS.
func (s *scriptCalls) reaches() bool {
	return s.any || slices.ContainsFunc(s.calls, scriptCall.reaches)
}

func (c scriptCall) reaches() bool {
	if !c.command.known || c.command.n != 0 || len(c.command.text) > longestName {
		return true
	}
	row := byName[lower(c.command.text)]
	switch {
	case row == nil, row.KeyFlags == "" && len(row.Subcommands) > 0:
		return true
	case row.KeyFlags == "":
		return false
	}
	given := c.first.known && c.first.n != 0 && c.first.text == "KEYS"
	return !given || !c.alone && (row.FirstKey != 1 || row.LastKey != 1)
}

// word is an argument of a call in a script: a literal, or one of those that the script was given.
type word struct {
	known bool
	text  string // the literal; KEYS or ARGV where n is not 0
	n     int
}

// in is what the word is in one run.
func (w word) in(keys, argv []string) (text string, known bool) {
	of := argv
	switch {
	case !w.known || w.n == 0:
		return w.text, w.known
	case w.text == "KEYS":
		of = keys
	}
	if w.n > len(of) {
		return "", false
	}
	return of[w.n-1], true
}

// callsOf reads what a script calls. Where it names redis, KEYS or ARGV otherwise than to call, to read one
// element or to count, anything may come of it.
func callsOf(text string) scriptCalls {
	tokens, err := lua.Lex(text)
	if err != nil {
		return scriptCalls{any: true}
	}
	var s scriptCalls
	unpacks := keepsUnpack(tokens)
	for i, t := range tokens {
		switch {
		case t.Kind == lua.String:
			s.gathers = s.gathers || rowNamed(t.Text).gathers()
		case t.Kind != lua.Name:
		case t.Text == "redis":
			s.redis(tokens[i+1:])
		case t.Text == "KEYS" || t.Text == "ARGV":
			s.any = s.any || !onlyRead(tokens, i, unpacks)
		}
	}
	return s
}

// keepsUnpack tells that unpack is Lua's own wherever it is named: it is called by that name, and nothing else is
// called so.
func keepsUnpack(tokens []lua.Token) bool {
	for i, t := range tokens {
		if t.Kind != lua.Name || t.Text != "unpack" {
			continue
		}
		before := lua.Token{}
		if i > 0 {
			before = tokens[i-1]
		}
		if !isSymbol(tokens[i+1], "(") || isSymbol(before, ".", ":") || before.Text == "function" {
			return false
		}
	}
	return true
}

func isSymbol(t lua.Token, texts ...string) bool {
	return t.Kind == lua.Symbol && slices.Contains(texts, t.Text)
}

// redis takes what follows the name of Redis's library.
func (s *scriptCalls) redis(after []lua.Token) {
	if len(after) < 3 || !isSymbol(after[0], ".") || after[1].Kind != lua.Name {
		s.any = true
		return
	}
	if name := after[1].Text; name != "call" && name != "pcall" {
		return
	}
	switch next := after[2:]; {
	case next[0].Kind == lua.String: // redis.call"PING"
		s.calls = append(s.calls, scriptCall{command: word{known: true, text: next[0].Text}})
	case isSymbol(next[0], "("):
		command, rest := readWord(next[1:])
		call := scriptCall{command: command}
		if isSymbol(rest[0], ",") {
			call.made = isMade(rest[1:])
			call.first, rest = readWord(rest[1:])
			if call.alone = isSymbol(rest[0], ")"); isSymbol(rest[0], ",") {
				call.second, _ = readWord(rest[1:])
			}
		}
		s.calls = append(s.calls, call)
	default:
		s.any = true // the function itself is passed on
	}
}

// readWord reads an argument of a call, and is known only if that is all there is to it.
func readWord(tokens []lua.Token) (w word, rest []lua.Token) {
	used := 1
	switch {
	case tokens[0].Kind == lua.String:
		w = word{known: true, text: tokens[0].Text}
	case len(tokens) > 4 && tokens[0].Kind == lua.Name && (tokens[0].Text == "KEYS" || tokens[0].Text == "ARGV") &&
		isSymbol(tokens[1], "[") && tokens[2].Kind == lua.Number && isSymbol(tokens[3], "]"):
		n, err := strconv.Atoi(tokens[2].Text)
		if w = (word{err == nil && n > 0, tokens[0].Text, n}); !w.known {
			return word{}, tokens
		}
		used = 4
	default:
		return word{}, tokens
	}
	if rest = tokens[used:]; len(rest) == 0 || !isSymbol(rest[0], ",", ")") {
		return word{}, tokens
	}
	return w, rest
}

// isMade tells that an argument is a literal, or put together.
func isMade(tokens []lua.Token) bool {
	depth := 0
	for _, t := range tokens {
		switch {
		case isSymbol(t, "(", "[", "{"):
			depth++
		case isSymbol(t, ",") && depth == 0, isSymbol(t, ")", "]", "}") && depth == 0:
			return tokens[0].Kind == lua.String
		case isSymbol(t, ")", "]", "}"):
			depth--
		case isSymbol(t, "..") && depth == 0:
			return true
		}
	}
	return false
}

// onlyRead tells that nothing can be written to KEYS or ARGV at a place where one of them is named.
func onlyRead(tokens []lua.Token, i int, unpacks bool) bool {
	if i > 0 && isSymbol(tokens[i-1], "#") {
		return true
	}
	if unpacks && i > 1 && isSymbol(tokens[i-1], "(") && tokens[i-2].Kind == lua.Name && tokens[i-2].Text == "unpack" {
		return true
	}
	rest := tokens[i+1:]
	if !isSymbol(rest[0], "[") {
		return false
	}
	return !assigns(behindIndex(rest))
}

// behindIndex is what follows an index, which the tokens begin with.
func behindIndex(tokens []lua.Token) []lua.Token {
	for depth, j := 0, 0; j < len(tokens); j++ {
		switch {
		case isSymbol(tokens[j], "[", "(", "{"):
			depth++
		case isSymbol(tokens[j], "]", ")", "}"):
			if depth--; depth == 0 {
				return tokens[j+1:]
			}
		}
	}
	return nil
}

// assigns tells that what stands before these tokens may be assigned to, alone or as one of several.
func assigns(tokens []lua.Token) bool {
	if len(tokens) == 0 || isSymbol(tokens[0], "=") {
		return true
	}
	if !isSymbol(tokens[0], ",") {
		return false
	}
	for depth, j := 0, 0; j < len(tokens); j++ {
		switch {
		case j == maxList:
			return true // for all that is known
		case isSymbol(tokens[j], "[", "(", "{"):
			depth++
		case isSymbol(tokens[j], "]", ")", "}"):
			if depth--; depth < 0 {
				return false // it was an argument, or an element
			}
		case depth == 0 && isSymbol(tokens[j], "="):
			return true
		case depth == 0 && (tokens[j].Kind == lua.Name || tokens[j].Kind == lua.Keyword) && !isSymbol(tokens[j-1], ",", ".", ":"):
			return false // no list of variables goes on so: it was one of values, and the next statement begins
		}
	}
	return false
}
