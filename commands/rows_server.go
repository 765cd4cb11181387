package commands

var serverRows = []*Command{
	{
		Name: "cluster", Arity: -2, Categories: "slow",
		Subcommands: clusterRows(),
	},
	{
		Name: "command", Arity: -1, Flags: "loading stale", Categories: "slow connection",
		Tips: "nondeterministic_output_order", do: (*Session).command,
		Subcommands: []*Command{
			{
				Name: "command|count", Arity: 2, Flags: "loading stale", Categories: "slow connection",
				do: (*Session).commandCount,
			},
			{
				Name: "command|docs", Arity: -2, Flags: "loading stale", Categories: "slow connection",
				Tips: "nondeterministic_output_order", do: (*Session).commandDocs,
			},
			{
				Name: "command|getkeys", Arity: -4, Flags: "loading stale", Categories: "slow connection",
				do: (*Session).commandGetKeys,
			},
			{
				Name: "command|getkeysandflags", Arity: -4, Flags: "loading stale", Categories: "slow connection",
				do: (*Session).commandGetKeysAndFlags,
			},
			{
				Name: "command|help", Arity: 2, Flags: "loading stale", Categories: "slow connection",
				do: (*Session).help,
			},
			{
				Name: "command|info", Arity: -2, Flags: "loading stale", Categories: "slow connection",
				Tips: "nondeterministic_output_order", do: (*Session).commandInfo,
			},
			{
				Name: "command|list", Arity: -2, Flags: "loading stale", Categories: "slow connection",
				Tips: "nondeterministic_output_order", do: (*Session).commandList,
			},
		},
	},
	{
		Name: "config", Arity: -2, Categories: "slow",
		Subcommands: []*Command{
			{
				Name: "config|get", Arity: -3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).configGet,
			},
			{
				Name: "config|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				do: (*Session).help,
			},
			{
				Name: "config|resetstat", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).configResetStat,
			},
			{
				Name: "config|rewrite", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).configRewrite,
			},
			{
				Name: "config|set", Arity: -4, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "request_policy:all_nodes response_policy:all_succeeded", do: (*Session).configSet,
			},
		},
	},
	{
		Name: "info", Arity: -1, Flags: "loading stale", Categories: "slow dangerous",
		Tips: "nondeterministic_output request_policy:all_shards response_policy:special", do: (*Session).info,
	},
	{
		Name: "role", Arity: 1, Flags: "noscript loading stale fast", Categories: "admin fast dangerous",
		do: (*Session).role,
	},
	{
		Name: "time", Arity: 1, Flags: "loading stale fast", Categories: "fast",
		Tips: "nondeterministic_output", do: (*Session).timeNow,
	},
}
