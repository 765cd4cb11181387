package commands

var keyspaceRows = []*Command{
	{
		Name: "copy", Arity: -3, Flags: "write denyoom", Categories: "keyspace write slow", FirstKey: 1, LastKey: 2, Step: 1,
		KeyFlags: "RO access", SecondKey: "OW update", do: (*Session).copyKey,
	},
	{
		Name: "dbsize", Arity: 1, Flags: "readonly fast", Categories: "keyspace read fast",
		Tips: "request_policy:all_shards response_policy:agg_sum", do: (*Session).dbsize,
	},
	{
		Name: "expiretime", Arity: 2, Flags: "readonly fast", Categories: "keyspace read fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).expireTime,
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
		Name: "object", Arity: -2, Categories: "slow",
		Subcommands: []*Command{
			{
				Name: "object|encoding", Arity: 3, Flags: "readonly", Categories: "keyspace read slow", FirstKey: 2, LastKey: 2, Step: 1,
				KeyFlags: "RO", Tips: "nondeterministic_output", do: (*Session).byScript,
			},
			{
				Name: "object|freq", Arity: 3, Flags: "readonly", Categories: "keyspace read slow", FirstKey: 2, LastKey: 2, Step: 1,
				KeyFlags: "RO", Tips: "nondeterministic_output", do: (*Session).byScript,
			},
			{
				Name: "object|help", Arity: 2, Flags: "loading stale", Categories: "keyspace slow",
				do: (*Session).help,
			},
			{
				Name: "object|idletime", Arity: 3, Flags: "readonly", Categories: "keyspace read slow", FirstKey: 2, LastKey: 2, Step: 1,
				KeyFlags: "RO", Tips: "nondeterministic_output", do: (*Session).byScript,
			},
			{
				Name: "object|refcount", Arity: 3, Flags: "readonly", Categories: "keyspace read slow", FirstKey: 2, LastKey: 2, Step: 1,
				KeyFlags: "RO", Tips: "nondeterministic_output", do: (*Session).byScript,
			},
		},
	},
	{
		Name: "pexpiretime", Arity: 2, Flags: "readonly fast", Categories: "keyspace read fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).expireTime,
	},
	{
		Name: "randomkey", Arity: 1, Flags: "readonly", Categories: "keyspace read slow",
		Tips: "request_policy:all_shards nondeterministic_output", do: (*Session).randomKey,
	},
	{
		Name: "rename", Arity: 3, Flags: "write", Categories: "keyspace write slow", FirstKey: 1, LastKey: 2, Step: 1,
		KeyFlags: "RW access delete", SecondKey: "OW update", do: (*Session).byScript,
	},
	{
		Name: "renamenx", Arity: 3, Flags: "write fast", Categories: "keyspace write fast", FirstKey: 1, LastKey: 2, Step: 1,
		KeyFlags: "RW access delete", SecondKey: "OW insert", do: (*Session).byScript,
	},
	{
		Name: "scan", Arity: -2, Flags: "readonly", Categories: "keyspace read slow",
		Tips: "nondeterministic_output request_policy:special", do: (*Session).scan,
	},
	{
		Name: "touch", Arity: -2, Flags: "readonly fast", Categories: "keyspace read fast", FirstKey: 1, LastKey: -1, Step: 1,
		KeyFlags: "RO", Tips: "request_policy:multi_shard response_policy:agg_sum", do: (*Session).exists,
	},
}
