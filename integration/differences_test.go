package integration

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlock-proxy/commands"
)

// difference is one way in which the proxy may answer otherwise than one Redis. What it
// tells is a line of commands/README.md, word by word.
type difference struct {
	tells string

	// is tells whether a difference in the replies to one command is this one. Where the
	// two may hold different keys from there on, ends is true, and with it the
	// conversation. Nil is what no random command comes to.
	is   func(x *exchange) bool
	ends bool
}

// differences are all that there may be. Whatever is not among them is a bug.
var differences = []difference{
	{tells: "a remaining ttl reads up to 0.02 % and 3 ms lower than what was set, and never higher, but by up to 101 ms where an extension has moved its end by no more than that: see [what is promised](../quorum/README.md#what-is-promised-and-under-which-conditions)", is: isTTL},
	{tells: "what masters hold for the clocks' allowance alone, up to 1 % and 2 ms of a ttl behind its end, is there for whatever writes, for `EVAL_RO`, in a transaction, and where this proxy does not know the ttl: see [the end of a ttl](#the-end-of-a-ttl)"},
	{tells: "`GT` and `LT` of an expiry compare what masters have padded, which is up to 1 % and 2 ms of the earlier ttl later than what was set: by that much they may refuse what one Redis would do, or do what it would refuse"},
	{
		tells: "`ACL` knows two categories more, and a word or two less: see [who may what](#who-may-what)",
		is:    func(x *exchange) bool { return strings.HasPrefix(x.name(), "acl") }, ends: true,
	},
	{
		tells: "a ttl of 200 to 206 years is one of 206, a longer one than 316,000 years is cut to that, and neither has anything added for clocks that differ; embedded masters hold no key for longer than 290",
		is: func(x *exchange) bool {
			const years, farthest = 200 * 365 * 24 * 3600, 9_999_999_999_999
			seconds := number(x.ours)
			if strings.HasPrefix(x.name(), "p") {
				seconds /= 1000
			}
			if strings.HasSuffix(x.name(), "expiretime") {
				seconds -= time.Now().Unix()
			}
			return x.is("pttl", "ttl", "pexpiretime", "expiretime") && x.ours.Kind == ':' &&
				(seconds > years && seconds < 207*365*24*3600 || seconds > farthest-10 && number(x.theirs) > number(x.ours))
		},
	},
	{
		tells: "`PXAT` or `EXAT` of a `SET` that has passed already is an `invalid expire time`, where Redis sets the key for no time at all; with that of a `GETEX`, or in a transaction, the key lives for a millisecond",
		is: func(x *exchange) bool {
			return x.is("set") && x.ours.Failed("ERR invalid expire time in 'set' command")
		}, ends: true,
	},
	{
		tells: "a ttl that is too short to be granted is an error that names one which is not",
		is:    func(x *exchange) bool { return x.ours.Failed("ERR the ttl is too short") }, ends: true,
	},
	{
		tells: "commands and subcommands that are not listed above are unknown",
		is: func(x *exchange) bool {
			return (x.ours.Failed("ERR unknown command") || x.ours.Failed("ERR unknown subcommand")) && !x.served()
		}, ends: true,
	},
	{
		tells: "some that are listed above came to Redis later: `LOCK`, `DELEX`, `CLIENT CAPA`, `NO-TOUCH` and `SETINFO`, and `WITHSCORE` of `ZRANK` and `ZREVRANK`",
		is: func(x *exchange) bool {
			return x.is("zrank", "zrevrank") && x.theirs.Failed("ERR wrong number of arguments") || (x.theirs.Failed("ERR unknown command") || x.theirs.Failed("ERR unknown subcommand")) &&
				(x.is("delex", "client|capa", "client|no-touch", "client|setinfo") || strings.HasPrefix(x.name(), "lock"))
		}, ends: true,
	},
	{
		tells: "what is told of the server, its clients, settings and commands is told of the proxy: by `INFO`, `HELLO`, `TIME`, `CLIENT ID`, `INFO`, `LIST` and `KILL`, `COMMAND`, `CONFIG GET`, `SLOWLOG`, `LATENCY`, `MEMORY` and every `HELP`",
		is: func(x *exchange) bool {
			if x.is("command|info") && len(x.ours.Elems) == len(x.theirs.Elems) && slices.ContainsFunc(x.theirs.Elems, func(r RawReply) bool { return r.Null }) {
				return false
			}
			return x.ours.Kind != '-' && x.theirs.Kind != '-' && (strings.HasSuffix(x.name(), "|help") ||
				x.is("info", "hello", "time", "client|id", "client|info", "client|list", "client|kill", "command", "command|count", "command|docs",
					"command|info", "command|list", "config|get", "slowlog|get", "slowlog|len", "latency|histogram",
					"latency|latest", "latency|history", "latency|reset", "latency|doctor", "memory|stats", "memory|doctor", "memory|malloc-stats"))
		},
	},
	{
		tells: "a `HELLO` that is refused names nobody, as since Redis 7.2",
		is: func(x *exchange) bool {
			return x.is("client|getname") && x.client.misnamed && x.theirs.Kind == '$'
		},
	},
	{
		tells: "clients have other numbers, so that `CLIENT TRACKING … REDIRECT` may find another, or none",
		is: func(x *exchange) bool {
			const absent = "ERR The client ID you want redirect to does not exist"
			return x.is("client|tracking") && x.ours.Failed(absent) != x.theirs.Failed(absent)
		}, ends: true,
	},
	{
		tells: "what `CLIENT TRACKING` tells a client may be told once too often, and `NOLOOP` with `BCAST` keeps nothing back: see [caches of clients](#caches-of-clients)",
		is:    func(*exchange) bool { return false }, // that is no answer to anything, and left out on both sides
	},
	{
		tells: "`CONFIG SET` knows the options that may change while the proxy runs, with their own bounds",
		is: func(x *exchange) bool {
			return x.is("config|set") && x.ours.Failed("ERR CONFIG SET failed ") && (x.theirs.Failed("ERR CONFIG SET failed ") || x.theirs.Kind == '+')
		},
	},
	{tells: "`SLOWLOG` and `MONITOR` show of a command what is [told below](#what-is-told-of-the-proxy), and no token"},
	{
		tells: "`LATENCY GRAPH` is refused",
		is: func(x *exchange) bool {
			return x.is("latency|graph") && x.ours.Failed("ERR LATENCY GRAPH is not drawn")
		},
	},
	{
		tells: "`EXPIRETIME` and `PEXPIRETIME` tell the time of day at which they are asked and what is left of the ttl, and so an end that is as much earlier, or later",
		is:    isEnd,
	},
	{
		tells: "`SPOP` and `SRANDMEMBER` choose for themselves, all masters alike, and of 4096 members at most",
		is:    isChoice, ends: true,
	},
	{
		tells: "`OBJECT` and `MEMORY USAGE` tell of the masters: how a value is kept there, how long ago any proxy has asked for the key or looked at it, and how much it takes there; of numbers the one that a quorum has as much as",
		is: func(x *exchange) bool {
			return x.is("memory|usage", "object|idletime", "object|refcount") && x.ours.Kind == ':' && x.theirs.Kind == ':'
		},
	},
	{
		tells: "a time to wait of more milliseconds than a whole number holds is `timeout is out of range`, as in Redis from 7.2 on, and not negative",
		is: func(x *exchange) bool {
			return x.ours.Failed("ERR timeout is out of range") && x.theirs.Failed("ERR timeout is ")
		},
	},
	{
		tells: "`COPY` to another database is refused",
		is:    func(x *exchange) bool { return x.ours.Failed("ERR COPY to another database") }, ends: true,
	},
	{
		tells: "fields, members, keys and channels come in an order of their own, and the cursors of `SCAN`, `HSCAN`, `SSCAN` and `ZSCAN` mean nothing to Redis",
		is:    isOrder,
	},
	{
		tells: "a transaction queues no more than what is [told below](#transactions), is about one database, and `WATCH` compares values",
		is: func(x *exchange) bool {
			return x.ours.Failed("ERR ") && strings.Contains(x.ours.Text, " cannot be queued: ") ||
				x.ours.Failed("ERR the watched keys are in database") ||
				x.is("exec") && x.client.watches && x.ours.Null != x.theirs.Null
		}, ends: true,
	},
	{
		tells: "a script names only what is [told below](#what-a-script-may-do), uses no other keys, and takes no more steps and bytes than that",
		is: func(x *exchange) bool {
			return x.ours.Failed("ERR ") && strings.Contains(x.ours.Text, "not for lock scripts") || x.ours.Failed("ERR the script ")
		},
	},
	{tells: "in a script `redis.log`, `redis.set_repl` and `redis.setresp` check their arguments and do nothing, and a reply with a `{double=…}`, `{map=…}`, `{set=…}`, `{big_number=…}` or `{verbatim_string=…}` is refused"},
	{
		tells: "some errors of Lua itself are said in other words: of a script that does not compile, and of what is nil in one",
		is: func(x *exchange) bool {
			return x.ours.Failed("ERR Error compiling script") && x.theirs.Failed("ERR Error compiling script") ||
				strings.Contains(x.ours.Text, ": attempt to ") && strings.Contains(x.theirs.Text, ": attempt to ") ||
				strings.Contains(x.ours.Text, "bad argument") && strings.Contains(x.theirs.Text, "bad argument")
		},
	},
	{
		tells: "`DBSIZE` counts for a moment what a command that has just written had its keys latched with",
		is: func(x *exchange) bool {
			return x.is("dbsize") && x.ours.Kind == ':' && x.theirs.Kind == ':' && number(x.ours) > number(x.theirs)
		},
	},
	{tells: "`WAIT` does not wait, there being no replicas"},
	{tells: "a list of more than 20000 elements can only be read, given an expiry and deleted"},
	{tells: "a key that takes more than 2 MiB can only be read and deleted, what one command, transaction or script writes to takes no more than that in all, and a command that writes has at most 4 MiB"},
	{tells: "a reply of more than 501 values, scores and the name of a key among them, as of `SMEMBERS`, `LRANGE`, `ZRANGE` or a pop with a count, is refused before anything is read for it, as is what is looked for behind more than 100000 elements"},
	{tells: "the name of a key has at most 64 KiB"},
	{tells: "a command has at most 1024 words, each of at most 1 MiB, and a length is followed by CR LF, which Redis does not look at"},
	{tells: "a pattern, and the name of a channel, has at most 1024 bytes"},
	{tells: "an inline command ends at a byte of zero, for which Redis waits for ever"},
	{tells: "`QUIT` and a protocol error end the connection also of who has asked for no replies, where Redis waits for his end"},
	{tells: "who ends what he sends before a command that may wait for an element is answered [has none](#waiting-for-an-element), also where there is one at once, and of a `BLMOVE` or `BRPOPLPUSH` that has moved one no answer; what is behind it is not carried out"},
	{tells: "of what is sent behind a command that is blocked as much is kept as one command may have, 4 MiB, and who sends more is cut off, as by Redis behind its `client-query-buffer-limit`, which is 1 GiB"},
}

// exchange is one command, and what was answered to it.
type exchange struct {
	args         []string
	ours, theirs RawReply
	client       *pair // who asked
	lasted       time.Duration
}

// is tells the command's name, or its subcommand's: "client|list".
func (x *exchange) is(names ...string) bool { return slices.Contains(names, x.name()) }

func (x *exchange) name() string { return nameOf(x.args) }

func nameOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	name := strings.ToLower(args[0])
	if len(args) > 1 {
		sub := name + "|" + strings.ToLower(args[1])
		if slices.ContainsFunc(commands.Table(), func(c *commands.Command) bool { return c.Name == sub }) {
			return sub
		}
	}
	return name
}

// served tells that the table of commands has the command, with its subcommand.
func (x *exchange) served() bool {
	return slices.ContainsFunc(commands.Table(), func(c *commands.Command) bool {
		return c.Name == x.name() && (len(c.Subcommands) == 0 || len(x.args) == 1)
	})
}

// number is an integer reply's.
func number(r RawReply) int64 {
	n, _ := strconv.ParseInt(r.Text, 10, 64)
	return n
}

func TestDifferencesAreThoseThatTheReadmeTells(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../commands/README.md")
	must(t, err)
	const begin, end = "<!-- differences: begin; see integration/differences_test.go -->\n", "<!-- differences: end -->"
	_, rest, found := strings.Cut(string(b), begin)
	told, _, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("commands/README.md has no list of differences")
	}
	var want strings.Builder
	for _, d := range differences {
		want.WriteString("* " + d.tells + "\n")
	}
	if told != want.String() {
		t.Errorf("commands/README.md tells\n%s\nand it is\n%s", told, want.String())
	}
}
