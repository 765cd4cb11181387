package commands

var scriptRows = []*Command{
	{
		Name: "eval", Arity: -3, Flags: "noscript stale skip_monitor no_mandatory_keys movablekeys", Categories: "slow scripting",
		KeyFlags: "RW access update", do: (*Session).eval,
	},
	{
		Name: "evalsha", Arity: -3, Flags: "noscript stale skip_monitor no_mandatory_keys movablekeys", Categories: "slow scripting",
		KeyFlags: "RW access update", do: (*Session).eval,
	},
	{
		Name: "eval_ro", Arity: -3, Flags: "readonly noscript stale skip_monitor no_mandatory_keys movablekeys", Categories: "slow scripting",
		KeyFlags: "RO access", do: (*Session).eval,
	},
	{
		Name: "evalsha_ro", Arity: -3, Flags: "readonly noscript stale skip_monitor no_mandatory_keys movablekeys", Categories: "slow scripting",
		KeyFlags: "RO access", do: (*Session).eval,
	},
	{
		Name: "script", Arity: -2, Categories: "slow",
		Subcommands: []*Command{
			{
				Name: "script|exists", Arity: -3, Flags: "noscript", Categories: "slow scripting",
				Tips: "request_policy:all_shards response_policy:agg_logical_and", do: (*Session).scriptExists,
			},
			{
				Name: "script|flush", Arity: -2, Flags: "noscript", Categories: "slow scripting",
				Tips: "request_policy:all_nodes response_policy:all_succeeded", do: (*Session).scriptFlush,
			},
			{
				Name: "script|help", Arity: 2, Flags: "loading stale", Categories: "slow scripting",
				do: (*Session).help,
			},
			{
				Name: "script|kill", Arity: 2, Flags: "noscript allow_busy", Categories: "slow scripting",
				Tips: "request_policy:all_shards response_policy:one_succeeded", do: (*Session).scriptKill,
			},
			{
				Name: "script|load", Arity: 3, Flags: "noscript stale", Categories: "slow scripting",
				Tips: "request_policy:all_nodes response_policy:all_succeeded", do: (*Session).scriptLoad,
			},
		},
	},
}
