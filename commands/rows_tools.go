package commands

var toolRows = []*Command{
	{
		Name: "acl", Arity: -2, Categories: "slow",
		Group: "server", Since: "6.0.0", Complexity: "Depends on subcommand.",
		Summary:  "A container for Access List Control commands ",
		Synopsis: "subcommand ...",
		Subcommands: []*Command{
			{
				Name: "acl|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				Group: "server", Since: "6.0.0", Complexity: "O(1)",
				Summary: "Show helpful text about the different subcommands",
				do:      (*Session).help,
			},
			{
				Name: "acl|whoami", Arity: 2, Flags: "noscript loading stale", Categories: "slow",
				Group: "server", Since: "6.0.0", Complexity: "O(1)",
				Summary: "Return the name of the user associated to the current connection",
				do:      (*Session).aclWhoAmI,
			},
		},
	},
	{
		Name: "asking", Arity: 1, Flags: "fast", Categories: "fast connection",
		Group: "cluster", Since: "3.0.0", Complexity: "O(1)",
		Summary: "Sent by cluster clients after an -ASK redirect",
		do:      (*Session).cluster,
	},
	{
		Name: "latency", Arity: -2, Categories: "slow",
		Group: "server", Since: "2.8.13", Complexity: "Depends on subcommand.",
		Summary:  "A container for latency diagnostics commands",
		Synopsis: "subcommand ...",
		Subcommands: []*Command{
			{
				Name: "latency|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				Group: "server", Since: "2.8.13", Complexity: "O(1)",
				Summary: "Show helpful text about the different subcommands.",
				do:      (*Session).help,
			},
			{
				Name: "latency|histogram", Arity: -2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips:  "nondeterministic_output request_policy:all_nodes response_policy:special",
				Group: "server", Since: "7.0.0", Complexity: "O(N) where N is the number of commands with latency information being retrieved.",
				Summary:  "Return the cumulative distribution of latencies of a subset of commands or all.",
				Synopsis: "[command [command ...]]", do: (*Session).nothingMapped,
			},
			{
				Name: "latency|history", Arity: 3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips:  "nondeterministic_output request_policy:all_nodes response_policy:special",
				Group: "server", Since: "2.8.13", Complexity: "O(1)",
				Summary:  "Return timestamp-latency samples for the event.",
				Synopsis: "event", do: (*Session).nothingListed,
			},
			{
				Name: "latency|latest", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips:  "nondeterministic_output request_policy:all_nodes response_policy:special",
				Group: "server", Since: "2.8.13", Complexity: "O(1)",
				Summary: "Return the latest latency samples for all events.",
				do:      (*Session).nothingListed,
			},
			{
				Name: "latency|reset", Arity: -2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips:  "request_policy:all_nodes response_policy:all_succeeded",
				Group: "server", Since: "2.8.13", Complexity: "O(1)",
				Summary:  "Reset latency data for one or more events.",
				Synopsis: "[event [event ...]]", do: (*Session).latencyReset,
			},
		},
	},
	{
		Name: "module", Arity: -2, Categories: "slow",
		Group: "server", Since: "4.0.0", Complexity: "Depends on subcommand.",
		Summary:  "A container for module commands",
		Synopsis: "subcommand ...",
		Subcommands: []*Command{
			{
				Name: "module|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				Group: "server", Since: "5.0.0", Complexity: "O(1)",
				Summary: "Show helpful text about the different subcommands",
				do:      (*Session).help,
			},
			{
				Name: "module|list", Arity: 2, Flags: "admin noscript", Categories: "admin slow dangerous",
				Tips:  "nondeterministic_output_order",
				Group: "server", Since: "4.0.0", Complexity: "O(N) where N is the number of loaded modules.",
				Summary: "List all modules loaded by the server",
				do:      (*Session).nothingListed,
			},
		},
	},
	{
		Name: "readonly", Arity: 1, Flags: "loading stale fast", Categories: "fast connection",
		Group: "cluster", Since: "3.0.0", Complexity: "O(1)",
		Summary: "Enables read queries for a connection to a cluster replica node",
		do:      (*Session).cluster,
	},
	{
		Name: "readwrite", Arity: 1, Flags: "loading stale fast", Categories: "fast connection",
		Group: "cluster", Since: "3.0.0", Complexity: "O(1)",
		Summary: "Disables read queries for a connection to a cluster replica node",
		do:      (*Session).cluster,
	},
	{
		Name: "slowlog", Arity: -2, Categories: "slow",
		Group: "server", Since: "2.2.12", Complexity: "Depends on subcommand.",
		Summary:  "A container for slow log commands",
		Synopsis: "subcommand ...",
		Subcommands: []*Command{
			{
				Name: "slowlog|get", Arity: -2, Flags: "admin loading stale", Categories: "admin slow dangerous",
				Tips:  "request_policy:all_nodes nondeterministic_output",
				Group: "server", Since: "2.2.12", Complexity: "O(N) where N is the number of entries returned",
				Summary:  "Get the slow log's entries",
				Synopsis: "[count]", do: (*Session).slowlogGet,
			},
			{
				Name: "slowlog|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				Group: "server", Since: "6.2.0", Complexity: "O(1)",
				Summary: "Show helpful text about the different subcommands",
				do:      (*Session).help,
			},
			{
				Name: "slowlog|len", Arity: 2, Flags: "admin loading stale", Categories: "admin slow dangerous",
				Tips:  "request_policy:all_nodes response_policy:agg_sum nondeterministic_output",
				Group: "server", Since: "2.2.12", Complexity: "O(1)",
				Summary: "Get the slow log's length",
				do:      (*Session).slowlogLen,
			},
			{
				Name: "slowlog|reset", Arity: 2, Flags: "admin loading stale", Categories: "admin slow dangerous",
				Tips:  "request_policy:all_nodes response_policy:all_succeeded",
				Group: "server", Since: "2.2.12", Complexity: "O(N) where N is the number of entries in the slowlog",
				Summary: "Clear all entries from the slow log",
				do:      (*Session).slowlogReset,
			},
		},
	},
	{
		Name: "wait", Arity: 3, Flags: "noscript", Categories: "slow connection",
		Tips:  "request_policy:all_shards response_policy:agg_min",
		Group: "generic", Since: "3.0.0", Complexity: "O(1)",
		Summary:  "Wait for the synchronous replication of all the write commands sent in the context of the current connection",
		Synopsis: "numreplicas timeout", do: (*Session).wait,
	},
}
