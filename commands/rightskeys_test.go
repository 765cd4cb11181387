package commands

import (
	"strings"
	"testing"
)

// Of two keys that are not used alike each needs the right to what is done with it, and what tells of a
// key, or of a shard's channel, the right to that.
func TestRightsToEachKey(t *testing.T) {
	for _, c := range []struct{ rules, command, want string }{
		{"%R~a:* %W~b:* +@lock", "COPY a:1 b:1 REPLACE", ""},
		{"%R~a:* %W~b:* +@lock", "COPY b:1 a:1", "key b:1"},
		{"%R~a:* +@lock", "COPY a:1 a:2", "key a:2"},
		{"%R~a:* %W~b:* +@lock", "RENAME a:1 b:1", "key a:1"},
		{"%RW~a:* %W~b:* +@lock", "RENAME a:1 b:1", ""},
		{"%RW~a:* %W~b:* +@lock", "RENAMENX a:1 b:1", ""},
		{"%RW~a:* %W~b:* +@lock", "RENAMENX a:1 c:1", "key c:1"},
		{"%RW~a:* %R~b:* +@lock", "LMPOP 2 a:1 a:2 LEFT", ""},
		{"%RW~a:* %R~b:* +@lock", "LMPOP 2 a:1 b:1 LEFT COUNT 2", "key b:1"},
		{"%RW~a:* %W~b:* +@lock", "ZMPOP 1 b:1 MIN", "key b:1"},
		{"%RW~a:* +@lock", "ZPOPMIN b:1", "key b:1"},
		{"~* +@lock -@list", "LMPOP 1 a:1 LEFT", "command lmpop"},
		{"~* +eval +lmpop", "EVAL pops 1 a", ""},
		{"~* +eval +lpop +rpop", "EVAL pops 1 a", "command lmpop"},
		{"~a:* +@lock", "OBJECT IDLETIME b:1", "key b:1"},
		{"~a:* +@lock", "MEMORY USAGE a:1", ""},
		{"~* +@lock &news:*", "SPUBLISH news:a m", ""},
		{"~* +@lock &news:*", "SPUBLISH other m", "channel other"},
		{"~* +@lock &news:*", "SSUBSCRIBE news:a other", "channel other"},
		{"~* +@lock &news:*", "PUBSUB SHARDNUMSUB other", "channel other"},
		{"~* +eval +object|encoding", "EVAL encoding 1 a", ""},
		{"~* +eval +object|freq", "EVAL encoding 1 a", "command object|encoding"},
		{"~* +eval +object", "EVAL inspects 1 a REFCOUNT", ""},
		{"~* +eval +object|freq", "EVAL inspects 1 a REFCOUNT", "command object|refcount"},
		{"~* &* +@all -memory|usage", "EVAL usage 1 a", "command memory|usage"},
		{"~* &* +@all -memory|usage", "EVAL inspectsUntold 1 a", "command memory|usage"},
		{"~* +eval +spublish &news:*", "EVAL spublish 0 news:a", ""},
		{"~* +eval +spublish &news:*", "EVAL spublish 0 other", "channel other"},
	} {
		args := strings.Fields(c.command)
		if args[0] == "EVAL" {
			args[1] = map[string]string{
				"encoding":       "return redis.call('object', 'encoding', KEYS[1])",
				"inspects":       "return redis.call('OBJECT', ARGV[1], KEYS[1])",
				"inspectsUntold": "return redis.call('object', ARGV[1] .. '', KEYS[1])",
				"pops":           "return redis.call('lmpop', 1, KEYS[1], 'LEFT')",
				"usage":          "return redis.call('memory', 'Usage', KEYS[1])",
				"spublish":       "return redis.call('spublish', ARGV[1], 'm')",
			}[args[1]]
		}
		if got := deniedFor(as(t, NewDialect(Options{}), c.rules), args...); got != c.want {
			t.Errorf("%s: %s: %q, want %q", c.rules, c.command, got, c.want)
		}
	}
}
