package commands

var keyspaceRows = []*Command{
	{
		Name: "dbsize", Arity: 1, Flags: "readonly fast", Categories: "keyspace read fast",
		Tips:  "request_policy:all_shards response_policy:agg_sum",
		Group: "server", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Return the number of keys in the selected database",
		do:      (*Session).dbsize,
	},
	{
		Name: "flushall", Arity: -1, Flags: "write", Categories: "keyspace write slow dangerous",
		Tips:  "request_policy:all_shards response_policy:all_succeeded",
		Group: "server", Since: "1.0.0", Complexity: "O(N) where N is the total number of keys in all databases",
		Summary:  "Remove all keys from all databases",
		Synopsis: "[ASYNC|SYNC]", do: (*Session).flush,
	},
	{
		Name: "flushdb", Arity: -1, Flags: "write", Categories: "keyspace write slow dangerous",
		Tips:  "request_policy:all_shards response_policy:all_succeeded",
		Group: "server", Since: "1.0.0", Complexity: "O(N) where N is the number of keys in the selected database",
		Summary:  "Remove all keys from the current database",
		Synopsis: "[ASYNC|SYNC]", do: (*Session).flush,
	},
	{
		Name: "keys", Arity: 2, Flags: "readonly", Categories: "keyspace read slow dangerous",
		Tips:  "request_policy:all_shards nondeterministic_output_order",
		Group: "generic", Since: "1.0.0", Complexity: "O(N) with N being the number of keys in the database, under the assumption that the key names in the database and the given pattern have limited length.",
		Summary:  "Find all keys matching the given pattern",
		Synopsis: "pattern", do: (*Session).keys,
	},
	{
		Name: "randomkey", Arity: 1, Flags: "readonly", Categories: "keyspace read slow",
		Tips:  "request_policy:all_shards nondeterministic_output",
		Group: "generic", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Return a random key from the keyspace",
		do:      (*Session).randomKey,
	},
	{
		Name: "scan", Arity: -2, Flags: "readonly", Categories: "keyspace read slow",
		Tips:  "nondeterministic_output request_policy:special",
		Group: "generic", Since: "2.8.0", Complexity: "O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to return back to 0. N is the number of elements inside the collection.",
		Summary:  "Incrementally iterate the keys space",
		Synopsis: "cursor [MATCH pattern] [COUNT count] [TYPE type]", do: (*Session).scan,
	},
}
