package integration

import (
	"math/rand/v2"
	"slices"
	"strings"

	"redlock-proxy/commands"
)

// Commands as clients send them, good ones. A word in lower case is one of words; a word
// in upper case is itself; ~ before a part has it left out at times, and | is a choice.
var sentences = strings.Split(strings.TrimSpace(`
SET k v ~NX|XX ~GET ~PX|EX ~ttl ~KEEPTTL
SET k v PX|EX|PXAT|EXAT end ~NX|XX ~GET
SETNX k v
SETEX|PSETEX k ttl v
GETEX k ~PX|EX|PXAT|EXAT|PERSIST ~end
GET|GETDEL|STRLEN|TYPE|TTL|PTTL|PERSIST|INCR|DECR k
GETSET k v
GETRANGE k n n
MGET|EXISTS|DEL|UNLINK|WATCH k ~k ~k
MSET|MSETNX k v ~k ~v
INCRBY|DECRBY k n
EXPIRE|PEXPIRE k ttl ~NX|XX|GT|LT ~GT|LT|NX
EXPIREAT|PEXPIREAT k end ~NX|XX|GT|LT
HSET k f v ~f ~v
HSETNX k f v
HGET|HEXISTS k f
HMGET|HDEL k f ~f
HLEN|HGETALL|SCARD|SMEMBERS|ZCARD k
HINCRBY k f n
SADD|SREM k f ~f ~f
SISMEMBER k f
LLEN|LPOP|RPOP k
LPOP|RPOP k n
LINDEX k n
LRANGE|LTRIM k n n
LPUSH|RPUSH k f ~v ~f
LPUSH|RPUSH k v v f
LPUSHX|RPUSHX k f ~f
LREM k n f
LSET k n v
LINSERT k BEFORE|AFTER|v f v
LPOS k f ~RANK ~n ~COUNT ~n ~MAXLEN ~n
LMOVE k k LEFT|RIGHT LEFT|RIGHT|v
RPOPLPUSH k k
LMPOP|ZMPOP 1 k LEFT|RIGHT|MIN|MAX ~COUNT ~n
LMPOP|ZMPOP 2 k k LEFT|RIGHT|MIN|MAX ~COUNT ~n ~COUNT
LMPOP|ZMPOP n k LEFT|MIN
BLPOP|BRPOP|BZPOPMIN|BZPOPMAX k ~k brief
BLMOVE k k LEFT|RIGHT LEFT|RIGHT|v brief
BRPOPLPUSH k k brief
BLMPOP|BZMPOP brief 2 k k LEFT|RIGHT|MIN|MAX ~COUNT ~n
ZADD k ~NX|XX ~GT|LT ~CH ~INCR s f ~s ~f
ZADD k s f s f
ZREM k f ~f
ZSCORE k f
ZCOUNT|ZREMRANGEBYSCORE k s s
ZRANGE k n n ~WITHSCORES ~REV
ZRANGE k s s BYSCORE ~REV ~LIMIT ~n ~n ~WITHSCORES
ZRANGEBYSCORE|ZREVRANGEBYSCORE k s s ~WITHSCORES ~LIMIT ~n ~n
ZREVRANGE k n n ~WITHSCORES
ZREMRANGEBYRANK k n n
ZRANK|ZREVRANK k f
ZINCRBY k s f
ZPOPMIN|ZPOPMAX k ~n
ZMSCORE|SMISMEMBER k f ~f ~f
HMSET k f v ~f ~v
HKEYS|HVALS k
HSTRLEN k f
HSCAN|SSCAN|ZSCAN k 0 ~MATCH ~pattern ~COUNT ~1000
HSCAN|SSCAN|ZSCAN k n ~COUNT ~n
APPEND k v
SPOP|SRANDMEMBER k
SPOP|SRANDMEMBER k n
EXPIRETIME|PEXPIRETIME k
TOUCH k ~k ~k
COPY k k ~DB ~0 ~REPLACE
RENAME|RENAMENX k k
OBJECT ENCODING|FREQ|IDLETIME|REFCOUNT|HELP k
MEMORY USAGE k ~SAMPLES ~n
MULTI
MULTI
EXEC
EXEC
EXEC
DISCARD|UNWATCH
WATCH k
SELECT n
SELECT 0|1|15
PING|ECHO ~v
SUBSCRIBE|PSUBSCRIBE channel ~channel
UNSUBSCRIBE|PUNSUBSCRIBE ch:a|ch:b|ch:*|ch:
UNSUBSCRIBE
PUNSUBSCRIBE
SSUBSCRIBE channel ~channel
SUNSUBSCRIBE ~ch:a ~ch:b
PUBLISH|SPUBLISH nobody v
PUBSUB CHANNELS|NUMPAT|NUMSUB|SHARDCHANNELS|SHARDNUMSUB ~channel
HELLO 2|3 ~SETNAME ~name
HELLO ~n ~AUTH ~DEFAULT ~password
RESET
AUTH ~DEFAULT password
CLIENT SETNAME|GETNAME ~name
CLIENT ID|INFO|GETREDIR|TRACKINGINFO|LIST|HELP
CLIENT NO-EVICT on
CLIENT REPLY ON
CLIENT KILL ID|TYPE|ADDR|USER|SKIPME|LADDR|v nobody
CLIENT KILL ID nobody ~SKIPME ~on
CLIENT LIST TYPE|ID name
CLIENT TRACKING on ~REDIRECT|BCAST|OPTIN|OPTOUT|NOLOOP ~n
CLIENT TRACKING on ~OPTIN|OPTOUT|NOLOOP
CLIENT TRACKING on BCAST PREFIX key ~PREFIX ~key
CLIENT CACHING YES|NO|v
CLIENT TRACKINGINFO|GETREDIR
CLIENT UNBLOCK n ~TIMEOUT|ERROR
CLIENT UNPAUSE
SCAN 0 ~MATCH ~pattern ~COUNT ~1000 ~TYPE ~type
SCAN n ~COUNT ~n
KEYS pattern
DBSIZE
RANDOMKEY
FLUSHDB|FLUSHALL ~ASYNC|SYNC|v
SCRIPT EXISTS|FLUSH|LOAD|KILL ~v ~v
EVALSHA|EVALSHA_RO v n k v
COMMAND COUNT|DOCS|INFO|LIST ~name
COMMAND GETKEYS|GETKEYSANDFLAGS SET|MGET|EVAL|DEL|ZADD|PING|v k v
COMMAND GETKEYS|GETKEYSANDFLAGS LMPOP|ZMPOP|EVAL n k ~v ~k
COMMAND LIST FILTERBY MODULE|ACLCAT|PATTERN|v pattern
CONFIG GET pattern ~pattern
CONFIG SET|RESETSTAT|REWRITE name v
CONFIG SET slowlog-max-len|slowlog-log-slower-than|latency-monitor-threshold|loglevel|nosuch n ~latency-monitor-threshold ~n
CONFIG RESETSTAT|REWRITE
INFO ~name
ROLE|TIME|READONLY|READWRITE|ASKING|DBSIZE
WAIT n ttl
CLUSTER INFO|KEYSLOT|NOSUCH|HELP|MYID ~k
ACL WHOAMI
MODULE LIST
SLOWLOG GET|LEN|RESET ~n
LATENCY LATEST|HISTORY|RESET|HISTOGRAM|HELP|DOCTOR|GRAPH ~name
MEMORY STATS|DOCTOR|MALLOC-STATS|PURGE|HELP|nosuch ~name
OBJECT|BITCOUNT|XADD|nobody k v
`), "\n")

// words are what the placeholders stand for, odd ones among them.
var words = map[string][]string{
	"k":        {"a", "a", "a", "b", "b", "c", "", "k\x00\xff\r\n"},
	"v":        {"1", "t", "t", "10", "", "-5", "\x00\r\n\xff", "9223372036854775807", "v v", "1.5", "nosuch"},
	"f":        {"f", "f", "g", "", "h\r\n"},
	"n":        {"0", "1", "-1", "2", "-3", "15", "16", "1.5", "", "x", "+1", "01", "-0", " 1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "2147483648"},
	"s":        {"1", "2", "1.5", "-1", "(1", "-inf", "+inf", "inf", "x", "", "1e3", "nan", "3.0", "0x10", "17179869184"},
	"ttl":      {"100000", "30000000", "5000", "0", "-1", "", "x", "1.5", "9223372036854775807", "-9223372036854775808", "9223372036854775", "+5"},
	"end":      {"100000", "30000000", "1", "0", "-1", "x", "", "4102444800", "4102444800000", "9223372036854775807", "9223372036854775"},
	"brief":    {".001", "0.002", "1e-3", "-1", "x", "", "nan", " 1", "0x.01p0", "1e-400", "0x1p-1080", "1e-5000", "inf"},
	"name":     {"me", "a b", "", "id", "normal", "server", "get", "nosuch", "n\n", "default"},
	"channel":  {"a", "b", "*", ""},
	"nobody":   {"nobody", "nobody:2", "99999999", "0", "-1", "replica", "1.2.3.4:5", ""},
	"pattern":  {"*", "a", "[a-b]", "?", "\\a", "[^a]", "", "h*", "timeout", "set*", "string"},
	"type":     {"string", "hash", "list", "zset", "nosuch", "STRING"},
	"password": {"s3cret", "wrong", ""},
	"on":       {"on", "off", "ON", "x"},
}

// raw bytes that are no command, or an odd one.
var rawBytes = []string{
	"PING\r\n", "*1\r\n$4\r\nPING\r\n", "*0\r\nPING\r\n", "*-1\r\nPING\r\n", "*x\r\n", "*1\r\n:4\r\n", "*1\r\n$-1\r\n", "*1\r\n$x\r\n",
	"*01\r\n", "* 1\r\n", "ECHO 'a\r\n", "ECHO \"a\"b\r\n", "ECHO \"\\x41\\n\"\r\n", "ECHO 'a\\'b'\r\n", "  PING  \r\n", "PING\n", "*1\r\n\r\n",
	"*2147483648\r\n", "*1\r\n$536870913\r\n", "*2\r\n$4\r\nECHO\r\n$20000\r\n" + strings.Repeat("x", 20000) + "\r\n",
	"GET\ta\r\n", "\"\" x\r\n",
}

// rawGuests is what is too much before AUTH.
var rawGuests = []string{"*11\r\n", "*1048577\r\n", "*2147483647\r\n", "*1\r\n$16385\r\n", "*1\r\n$1048577\r\n", "*1\r\n$536870913\r\n"}

// steps of a random conversation.
func randomSteps(r *rand.Rand, n int, password bool) (steps []stepOf) {
	if password {
		for range r.IntN(5) {
			steps = append(steps, randomStep(r))
		}
		if r.IntN(4) == 0 {
			steps = append(steps, stepOf{client: 3, raw: rawGuests[r.IntN(len(rawGuests))]})
		}
		steps = append(steps, stepOf{client: 1, args: []string{"AUTH", "s3cret"}}, stepOf{client: 2, args: []string{"AUTH", "default", "s3cret"}})
	}
	for client := 1; client <= 2; client++ {
		if r.IntN(2) == 0 {
			steps = append(steps, stepOf{client: client, args: []string{"HELLO", "3"}})
		}
	}
	steps = append(steps, stepOf{client: 1, args: []string{"SCRIPT", "FLUSH"}})
	for range n {
		steps = append(steps, randomStep(r))
	}
	if !password && r.IntN(2) == 0 { // of one that knows none, Redis minds how much is on its way
		pipeline(r, steps)
	}
	return steps
}

// pipeline has steps that follow one another be sent at once, 2 to 8 of one client's.
func pipeline(r *rand.Rand, steps []stepOf) {
	for i := 0; i < len(steps); i++ {
		for n := r.IntN(8); n > 0 && i+1 < len(steps) && steps[i].pipelined() && steps[i+1].pipelined(); n-- {
			i++
			steps[i].behind, steps[i].client = true, steps[i-1].client
		}
	}
}

// pipelined tells that a step has one reply, whatever others do, and closes nothing.
func (s stepOf) pipelined() bool {
	switch name := nameOf(s.args); name {
	case "", "quit", "subscribe", "ssubscribe", "psubscribe", "unsubscribe", "sunsubscribe", "punsubscribe", "client|reply", "client|kill", "client|tracking":
		return false
	}
	return s.raw == "" && !s.last
}

func randomStep(r *rand.Rand) stepOf {
	s := stepOf{client: 1 + r.IntN(5)/4}
	switch roll := r.IntN(200); {
	case roll == 0:
		s.raw = rawBytes[r.IntN(len(rawBytes))]
		return s
	case roll < 15:
		c := commands.Table()[r.IntN(len(commands.Table()))]
		for c.Name == "monitor" { // what it tells comes whenever it likes
			c = commands.Table()[r.IntN(len(commands.Table()))]
		}
		s.args = strings.Split(c.Name, "|")
		for range r.IntN(4) {
			s.args = append(s.args, anyWord(r))
		}
	default:
		s.args = sentence(r)
	}
	switch roll := r.IntN(40); {
	case len(s.args) < 2:
	case roll == 0:
		s.args = s.args[:len(s.args)-1]
	case roll == 1:
		s.args = append(s.args, anyWord(r))
	case roll == 2:
		s.args[1+r.IntN(len(s.args)-1)] = anyWord(r)
	}
	s.last = shortLived(s.args)
	hasten(s.args)
	switch nameOf(s.args) {
	case "wait":
		if len(s.args) > 1 {
			s.args[1] = "0" // nobody waits
		}
	case "publish", "spublish":
		if len(s.args) > 1 {
			s.args[1] = "nobody" // listens: when a message comes is another test's
		}
	case "subscribe", "ssubscribe", "psubscribe":
		for i := range s.args[1:] {
			s.args[i+1] = "ch:" + s.args[i+1]
		}
	}
	s.inline = r.IntN(20) == 0 && !strings.ContainsAny(strings.Join(s.args, ""), "\x00\r\n\"' ") && !slices.Contains(s.args, "")
	return s
}

func sentence(r *rand.Rand) (args []string) {
	for i, part := range strings.Fields(sentences[r.IntN(len(sentences))]) {
		if part[0] == '~' && r.IntN(2) == 0 {
			continue
		}
		choices := strings.Split(strings.TrimPrefix(part, "~"), "|")
		word := choices[r.IntN(len(choices))]
		if list := words[word]; list != nil {
			word = list[r.IntN(len(list))]
		} else if i == 0 && r.IntN(4) == 0 || r.IntN(6) == 0 {
			word = strings.ToLower(word)
		}
		args = append(args, word)
	}
	return args
}

func anyWord(r *rand.Rand) string {
	kinds := []string{"k", "v", "f", "n", "s", "ttl", "name", "pattern"}
	list := words[kinds[r.IntN(len(kinds))]]
	return list[r.IntN(len(list))]
}
