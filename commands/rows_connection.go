package commands

var connectionRows = []*Command{
	{
		Name: "auth", Arity: -2, Flags: "noscript loading stale fast no_auth allow_busy", Categories: "fast connection",
		do: (*Session).auth,
	},
	{
		Name: "client", Arity: -2, Categories: "slow",
		Subcommands: []*Command{
			{
				Name: "client|capa", Arity: -3, Flags: "noscript loading stale", Categories: "slow connection",
				do: (*Session).clientCapa,
			},
			{
				Name: "client|caching", Arity: 3, Flags: "noscript loading stale", Categories: "slow connection",
				do: (*Session).clientCaching,
			},
			{
				Name: "client|getname", Arity: 2, Flags: "noscript loading stale", Categories: "slow connection",
				do: (*Session).clientGetName,
			},
			{
				Name: "client|getredir", Arity: 2, Flags: "noscript loading stale", Categories: "slow connection",
				do: (*Session).clientGetRedir,
			},
			{
				Name: "client|help", Arity: 2, Flags: "loading stale", Categories: "slow connection",
				do: (*Session).help,
			},
			{
				Name: "client|id", Arity: 2, Flags: "noscript loading stale", Categories: "slow connection",
				do: (*Session).clientID,
			},
			{
				Name: "client|info", Arity: 2, Flags: "noscript loading stale", Categories: "slow connection",
				Tips: "nondeterministic_output", do: (*Session).clientInfo,
			},
			{
				Name: "client|kill", Arity: -3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous connection",
				do: (*Session).clientKill,
			},
			{
				Name: "client|list", Arity: -2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous connection",
				Tips: "nondeterministic_output", do: (*Session).clientList,
			},
			{
				Name: "client|no-evict", Arity: 3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous connection",
				do: (*Session).clientNoEvict,
			},
			{
				Name: "client|no-touch", Arity: 3, Flags: "noscript loading stale", Categories: "slow connection",
				do: (*Session).clientNoTouch,
			},
			{
				Name: "client|reply", Arity: 3, Flags: "noscript loading stale", Categories: "slow connection",
				do: (*Session).clientReply,
			},
			{
				Name: "client|setinfo", Arity: 4, Flags: "noscript loading stale", Categories: "slow connection",
				Tips: "request_policy:all_nodes response_policy:all_succeeded", do: (*Session).clientSetInfo,
			},
			{
				Name: "client|setname", Arity: 3, Flags: "noscript loading stale", Categories: "slow connection",
				do: (*Session).clientSetName,
			},
			{
				Name: "client|tracking", Arity: -3, Flags: "noscript loading stale", Categories: "slow connection",
				do: (*Session).clientTracking,
			},
			{
				Name: "client|trackinginfo", Arity: 2, Flags: "noscript loading stale", Categories: "slow connection",
				do: (*Session).clientTrackingInfo,
			},
			{
				Name: "client|unblock", Arity: -3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous connection",
				do: (*Session).clientUnblock,
			},
			{
				Name: "client|unpause", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous connection",
				do: (*Session).clientUnpause,
			},
		},
	},
	{
		Name: "echo", Arity: 2, Flags: "loading stale fast", Categories: "fast connection",
		do: (*Session).echo,
	},
	{
		Name: "hello", Arity: -1, Flags: "noscript loading stale fast no_auth allow_busy", Categories: "fast connection",
		do: (*Session).hello,
	},
	{
		Name: "ping", Arity: -1, Flags: "fast", Categories: "fast connection",
		Tips: "request_policy:all_shards response_policy:all_succeeded", do: (*Session).ping,
	},
	{
		Name: "quit", Arity: -1, Flags: "noscript loading stale fast no_auth allow_busy", Categories: "fast connection",
		do: (*Session).quit,
	},
	{
		Name: "reset", Arity: 1, Flags: "noscript loading stale fast no_auth allow_busy", Categories: "fast connection",
		do: (*Session).reset,
	},
	{
		Name: "select", Arity: 2, Flags: "loading stale fast", Categories: "fast connection",
		do: (*Session).selectDB,
	},
}
