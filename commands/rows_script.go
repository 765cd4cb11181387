package commands

var scriptRows = []*Command{
	{
		Name: "eval", Arity: -3, Flags: "noscript stale skip_monitor no_mandatory_keys movablekeys", Categories: "slow scripting",
		KeyFlags: "RW access update", KeyNotes: "We cannot tell how the keys will be used so we assume the worst, RW and UPDATE",
		Group: "scripting", Since: "2.6.0", Complexity: "Depends on the script that is executed.",
		Summary:  "Execute a Lua script server side",
		Synopsis: "script numkeys [key ...] [arg ...]", do: (*Session).eval,
	},
	{
		Name: "evalsha", Arity: -3, Flags: "noscript stale skip_monitor no_mandatory_keys movablekeys", Categories: "slow scripting",
		KeyFlags: "RW access update",
		Group:    "scripting", Since: "2.6.0", Complexity: "Depends on the script that is executed.",
		Summary:  "Execute a Lua script server side",
		Synopsis: "sha1 numkeys [key ...] [arg ...]", do: (*Session).evalsha,
	},
	{
		Name: "eval_ro", Arity: -3, Flags: "readonly noscript stale skip_monitor no_mandatory_keys movablekeys", Categories: "slow scripting",
		KeyFlags: "RO access", KeyNotes: "We cannot tell how the keys will be used so we assume the worst, RO and ACCESS",
		Group: "scripting", Since: "7.0.0", Complexity: "Depends on the script that is executed.",
		Summary:  "Execute a read-only Lua script server side",
		Synopsis: "script numkeys [key ...] [arg ...]", do: (*Session).eval,
	},
	{
		Name: "evalsha_ro", Arity: -3, Flags: "readonly noscript stale skip_monitor no_mandatory_keys movablekeys", Categories: "slow scripting",
		KeyFlags: "RO access",
		Group:    "scripting", Since: "7.0.0", Complexity: "Depends on the script that is executed.",
		Summary:  "Execute a read-only Lua script server side",
		Synopsis: "sha1 numkeys [key ...] [arg ...]", do: (*Session).evalsha,
	},
	{
		Name: "script", Arity: -2, Categories: "slow",
		Group: "scripting", Since: "2.6.0", Complexity: "Depends on subcommand.",
		Summary:  "A container for Lua scripts management commands",
		Synopsis: "LOAD|EXISTS|FLUSH|KILL ...",
		Subcommands: []*Command{
			{
				Name: "script|exists", Arity: -3, Flags: "noscript", Categories: "slow scripting",
				Tips:  "request_policy:all_shards response_policy:agg_logical_and",
				Group: "scripting", Since: "2.6.0", Complexity: "O(N) with N being the number of scripts to check (so checking a single script is an O(1) operation).",
				Summary:  "Check existence of scripts in the script cache.",
				Synopsis: "sha1 [sha1 ...]", do: (*Session).scriptExists,
			},
			{
				Name: "script|flush", Arity: -2, Flags: "noscript", Categories: "slow scripting",
				Tips:  "request_policy:all_nodes response_policy:all_succeeded",
				Group: "scripting", Since: "2.6.0", Complexity: "O(N) with N being the number of scripts in cache",
				Summary:  "Remove all the scripts from the script cache.",
				Synopsis: "[ASYNC|SYNC]", do: (*Session).scriptFlush,
			},
			{
				Name: "script|help", Arity: 2, Flags: "loading stale", Categories: "slow scripting",
				Group: "scripting", Since: "5.0.0", Complexity: "O(1)",
				Summary: "Show helpful text about the different subcommands",
				do:      (*Session).help,
			},
			{
				Name: "script|kill", Arity: 2, Flags: "noscript allow_busy", Categories: "slow scripting",
				Tips:  "request_policy:all_shards response_policy:one_succeeded",
				Group: "scripting", Since: "2.6.0", Complexity: "O(1)",
				Summary: "Kill the script currently in execution.",
				do:      (*Session).scriptKill,
			},
			{
				Name: "script|load", Arity: 3, Flags: "noscript stale", Categories: "slow scripting",
				Tips:  "request_policy:all_nodes response_policy:all_succeeded",
				Group: "scripting", Since: "2.6.0", Complexity: "O(N) with N being the length in bytes of the script body.",
				Summary:  "Load the specified Lua script into the script cache.",
				Synopsis: "script", do: (*Session).scriptLoad,
			},
		},
	},
}
