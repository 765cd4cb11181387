package commands

var serverRows = []*Command{
	{
		Name: "cluster", Arity: -2, Categories: "slow",
		Group: "cluster", Since: "3.0.0", Complexity: "Depends on subcommand.",
		Summary:  "A container for cluster commands",
		Synopsis: "subcommand ...", Subcommands: clusterRows(),
	},
	{
		Name: "command", Arity: -1, Flags: "loading stale", Categories: "slow connection",
		Tips:  "nondeterministic_output_order",
		Group: "server", Since: "2.8.13", Complexity: "O(N) where N is the total number of Redis commands",
		Summary: "Get array of Redis command details",
		do:      (*Session).command,
		Subcommands: []*Command{
			{
				Name: "command|count", Arity: 2, Flags: "loading stale", Categories: "slow connection",
				Group: "server", Since: "2.8.13", Complexity: "O(1)",
				Summary: "Get total number of Redis commands",
				do:      (*Session).commandCount,
			},
			{
				Name: "command|docs", Arity: -2, Flags: "loading stale", Categories: "slow connection",
				Tips:  "nondeterministic_output_order",
				Group: "server", Since: "7.0.0", Complexity: "O(N) where N is the number of commands to look up",
				Summary:  "Get array of specific Redis command documentation",
				Synopsis: "[name ...]", do: (*Session).commandDocs,
			},
			{
				Name: "command|getkeys", Arity: -4, Flags: "loading stale", Categories: "slow connection",
				Group: "server", Since: "2.8.13", Complexity: "O(N) where N is the number of arguments to the command",
				Summary:  "Extract keys given a full Redis command",
				Synopsis: "command [arg ...]", do: (*Session).commandGetKeys,
			},
			{
				Name: "command|help", Arity: 2, Flags: "loading stale", Categories: "slow connection",
				Group: "server", Since: "5.0.0", Complexity: "O(1)",
				Summary: "Show helpful text about the different subcommands",
				do:      (*Session).help,
			},
			{
				Name: "command|info", Arity: -2, Flags: "loading stale", Categories: "slow connection",
				Tips:  "nondeterministic_output_order",
				Group: "server", Since: "2.8.13", Complexity: "O(N) where N is the number of commands to look up",
				Summary:  "Get array of specific Redis command details, or all when no argument is given.",
				Synopsis: "[name ...]", do: (*Session).commandInfo,
			},
			{
				Name: "command|list", Arity: -2, Flags: "loading stale", Categories: "slow connection",
				Tips:  "nondeterministic_output_order",
				Group: "server", Since: "7.0.0", Complexity: "O(N) where N is the total number of Redis commands",
				Summary:  "Get an array of Redis command names",
				Synopsis: "[FILTERBY MODULE name|ACLCAT category|PATTERN pattern]", do: (*Session).commandList,
			},
		},
	},
	{
		Name: "config", Arity: -2, Categories: "slow",
		Group: "server", Since: "2.0.0", Complexity: "Depends on subcommand.",
		Summary:  "A container for server configuration commands",
		Synopsis: "GET ...",
		Subcommands: []*Command{
			{
				Name: "config|get", Arity: -3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Group: "server", Since: "2.0.0", Complexity: "O(N) when N is the number of configuration parameters provided",
				Summary:  "Get the values of configuration parameters",
				Synopsis: "pattern [pattern ...]", do: (*Session).configGet,
			},
			{
				Name: "config|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				Group: "server", Since: "5.0.0", Complexity: "O(1)",
				Summary: "Show helpful text about the different subcommands",
				do:      (*Session).help,
			},
			{
				Name: "config|resetstat", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Group: "server", Since: "2.0.0", Complexity: "O(1)",
				Summary: "Reset the stats returned by INFO",
				do:      (*Session).configRefused,
			},
			{
				Name: "config|rewrite", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Group: "server", Since: "2.8.0", Complexity: "O(1)",
				Summary: "Rewrite the configuration file with the in memory configuration",
				do:      (*Session).configRefused,
			},
			{
				Name: "config|set", Arity: -4, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips:  "request_policy:all_nodes response_policy:all_succeeded",
				Group: "server", Since: "2.0.0", Complexity: "O(N) when N is the number of configuration parameters provided",
				Summary:  "Set configuration parameters to the given values",
				Synopsis: "parameter value [parameter value ...]", do: (*Session).configRefused,
			},
		},
	},
	{
		Name: "info", Arity: -1, Flags: "loading stale", Categories: "slow dangerous",
		Tips:  "nondeterministic_output request_policy:all_shards response_policy:special",
		Group: "server", Since: "1.0.0", Complexity: "O(1)",
		Summary:  "Get information and statistics about the server",
		Synopsis: "[section ...]", do: (*Session).info,
	},
	{
		Name: "role", Arity: 1, Flags: "noscript loading stale fast", Categories: "admin fast dangerous",
		Group: "server", Since: "2.8.12", Complexity: "O(1)",
		Summary: "Return the role of the instance in the context of replication",
		do:      (*Session).role,
	},
	{
		Name: "time", Arity: 1, Flags: "loading stale fast", Categories: "fast",
		Tips:  "nondeterministic_output",
		Group: "server", Since: "2.6.0", Complexity: "O(1)",
		Summary: "Return the current server time",
		do:      (*Session).timeNow,
	},
}
