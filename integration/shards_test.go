package integration

import "testing"

// Shards' channels go through the masters as others do, and are apart from these: by command, in a
// transaction and in a script.
func TestShardsChannelsAreApart(t *testing.T) {
	t.Parallel()
	masters, first := startQuorum(t, 3)
	second := startProxy(t, flags(masters)...)
	ordinary, shard, both := hears(t, second, "c"), dial(t, second.Addr), dial(t, first.Addr)
	shard.send("SSUBSCRIBE", "c", "\x00s")
	shard.receive([]any{"ssubscribe", "c", int64(1)})
	shard.receive([]any{"ssubscribe", "\x00s", int64(2)})
	both.send("PSUBSCRIBE", "*")
	both.receive([]any{"psubscribe", "*", int64(1)})
	both.send("SSUBSCRIBE", "c")
	both.receive([]any{"ssubscribe", "c", int64(1)})
	c := dial(t, first.Addr)
	c.want(int64(1), "SPUBLISH", "c", "to the shard's")
	c.want(int64(0), "EVAL", "redis.call('spublish', 'c', 'by a script') return redis.call('publish', ARGV[1], 'named oddly')", "0", "\x00s")
	c.want("OK", "MULTI")
	c.want("QUEUED", "SPUBLISH", "\x00s", "in a transaction")
	c.want("QUEUED", "PUBLISH", "c", "to the others'")
	c.want("QUEUED", "SET", "k", "v")
	c.want([]any{int64(0), int64(0), "OK"}, "EXEC")
	for _, m := range [][2]string{{"c", "to the shard's"}, {"c", "by a script"}, {"\x00s", "in a transaction"}} {
		shard.receive([]any{"smessage", m[0], m[1]})
	}
	ordinary.wantMessage("c", "to the others'")
	both.receive([]any{"smessage", "c", "to the shard's"})
	both.receive([]any{"smessage", "c", "by a script"})
	both.receive([]any{"pmessage", "*", "\x00s", "named oddly"})
	both.receive([]any{"pmessage", "*", "c", "to the others'"})
	shard.wantNoMessage()
	ordinary.wantNoMessage()
	both.wantNoMessage()
}
