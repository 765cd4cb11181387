package commands

var toolRows = []*Command{
	{
		Name: "asking", Arity: 1, Flags: "fast", Categories: "fast connection",
		do: (*Session).cluster,
	},
	{
		Name: "latency", Arity: -2, Categories: "slow",
		Subcommands: []*Command{
			{
				Name: "latency|doctor", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "nondeterministic_output request_policy:all_nodes response_policy:special", do: (*Session).latencyDoctor,
			},
			{
				Name: "latency|graph", Arity: 3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "nondeterministic_output request_policy:all_nodes response_policy:special", do: (*Session).latencyGraph,
			},
			{
				Name: "latency|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				do: (*Session).help,
			},
			{
				Name: "latency|histogram", Arity: -2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "nondeterministic_output request_policy:all_nodes response_policy:special", do: (*Session).latencyHistogram,
			},
			{
				Name: "latency|history", Arity: 3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "nondeterministic_output request_policy:all_nodes response_policy:special", do: (*Session).latencyHistory,
			},
			{
				Name: "latency|latest", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "nondeterministic_output request_policy:all_nodes response_policy:special", do: (*Session).latencyLatest,
			},
			{
				Name: "latency|reset", Arity: -2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "request_policy:all_nodes response_policy:all_succeeded", do: (*Session).latencyReset,
			},
		},
	},
	{
		Name: "memory", Arity: -2, Categories: "slow",
		Subcommands: []*Command{
			{
				Name: "memory|doctor", Arity: 2, Categories: "slow",
				Tips: "nondeterministic_output request_policy:all_shards response_policy:special", do: (*Session).memoryDoctor,
			},
			{
				Name: "memory|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				do: (*Session).help,
			},
			{
				Name: "memory|malloc-stats", Arity: 2, Categories: "slow",
				Tips: "nondeterministic_output request_policy:all_shards response_policy:special", do: (*Session).memoryMallocStats,
			},
			{
				Name: "memory|purge", Arity: 2, Categories: "slow",
				Tips: "request_policy:all_shards response_policy:all_succeeded", do: (*Session).memoryPurge,
			},
			{
				Name: "memory|stats", Arity: 2, Categories: "slow",
				Tips: "nondeterministic_output request_policy:all_shards response_policy:special", do: (*Session).memoryStats,
			},
			{
				Name: "memory|usage", Arity: -3, Flags: "readonly", Categories: "read slow", FirstKey: 2, LastKey: 2, Step: 1,
				KeyFlags: "RO", do: (*Session).byScript,
			},
		},
	},
	{
		Name: "module", Arity: -2, Categories: "slow",
		Subcommands: []*Command{
			{
				Name: "module|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				do: (*Session).help,
			},
			{
				Name: "module|list", Arity: 2, Flags: "admin noscript", Categories: "admin slow dangerous",
				Tips: "nondeterministic_output_order", do: (*Session).nothingListed,
			},
		},
	},
	{
		Name: "monitor", Arity: 1, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
		do: (*Session).monitor,
	},
	{
		Name: "readonly", Arity: 1, Flags: "loading stale fast", Categories: "fast connection",
		do: (*Session).cluster,
	},
	{
		Name: "readwrite", Arity: 1, Flags: "loading stale fast", Categories: "fast connection",
		do: (*Session).cluster,
	},
	{
		Name: "slowlog", Arity: -2, Categories: "slow",
		Subcommands: []*Command{
			{
				Name: "slowlog|get", Arity: -2, Flags: "admin loading stale", Categories: "admin slow dangerous",
				Tips: "request_policy:all_nodes nondeterministic_output", do: (*Session).slowlogGet,
			},
			{
				Name: "slowlog|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				do: (*Session).help,
			},
			{
				Name: "slowlog|len", Arity: 2, Flags: "admin loading stale", Categories: "admin slow dangerous",
				Tips: "request_policy:all_nodes response_policy:agg_sum nondeterministic_output", do: (*Session).slowlogLen,
			},
			{
				Name: "slowlog|reset", Arity: 2, Flags: "admin loading stale", Categories: "admin slow dangerous",
				Tips: "request_policy:all_nodes response_policy:all_succeeded", do: (*Session).slowlogReset,
			},
		},
	},
	{
		Name: "wait", Arity: 3, Flags: "noscript", Categories: "slow connection",
		Tips: "request_policy:all_shards response_policy:agg_min", do: (*Session).wait,
	},
}
