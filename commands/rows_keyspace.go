package commands

var keyspaceRows = []*Command{
	{
		Name: "dbsize", Arity: 1, Flags: "readonly fast", Categories: "keyspace read fast",
		Tips: "request_policy:all_shards response_policy:agg_sum", do: (*Session).dbsize,
	},
	{
		Name: "flushall", Arity: -1, Flags: "write", Categories: "keyspace write slow dangerous",
		Tips: "request_policy:all_shards response_policy:all_succeeded", do: (*Session).flush,
	},
	{
		Name: "flushdb", Arity: -1, Flags: "write", Categories: "keyspace write slow dangerous",
		Tips: "request_policy:all_shards response_policy:all_succeeded", do: (*Session).flush,
	},
	{
		Name: "keys", Arity: 2, Flags: "readonly", Categories: "keyspace read slow dangerous",
		Tips: "request_policy:all_shards nondeterministic_output_order", do: (*Session).keys,
	},
	{
		Name: "randomkey", Arity: 1, Flags: "readonly", Categories: "keyspace read slow",
		Tips: "request_policy:all_shards nondeterministic_output", do: (*Session).randomKey,
	},
	{
		Name: "scan", Arity: -2, Flags: "readonly", Categories: "keyspace read slow",
		Tips: "nondeterministic_output request_policy:special", do: (*Session).scan,
	},
}
