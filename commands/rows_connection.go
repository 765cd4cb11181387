package commands

var connectionRows = []*Command{
	{
		Name: "auth", Arity: -2, Flags: "noscript loading stale fast no_auth allow_busy", Categories: "fast connection",
		Group: "connection", Since: "1.0.0", Complexity: "O(N) where N is the number of passwords defined for the user",
		Summary:  "Authenticate to the server",
		Synopsis: "[username] password", do: (*Session).auth,
	},
	{
		Name: "client", Arity: -2, Categories: "slow",
		Group: "connection", Since: "2.4.0", Complexity: "Depends on subcommand.",
		Summary:  "A container for client connection commands",
		Synopsis: "subcommand ...",
		Subcommands: []*Command{
			{
				Name: "client|getname", Arity: 2, Flags: "noscript loading stale", Categories: "slow connection",
				Group: "connection", Since: "2.6.9", Complexity: "O(1)",
				Summary: "Get the current connection name",
				do:      (*Session).clientGetName,
			},
			{
				Name: "client|help", Arity: 2, Flags: "loading stale", Categories: "slow connection",
				Group: "connection", Since: "5.0.0", Complexity: "O(1)",
				Summary: "Show helpful text about the different subcommands",
				do:      (*Session).help,
			},
			{
				Name: "client|id", Arity: 2, Flags: "noscript loading stale", Categories: "slow connection",
				Group: "connection", Since: "5.0.0", Complexity: "O(1)",
				Summary: "Returns the client ID for the current connection",
				do:      (*Session).clientID,
			},
			{
				Name: "client|info", Arity: 2, Flags: "noscript loading stale", Categories: "slow connection",
				Tips:  "nondeterministic_output",
				Group: "connection", Since: "6.2.0", Complexity: "O(1)",
				Summary: "Returns information about the current client connection.",
				do:      (*Session).clientInfo,
			},
			{
				Name: "client|kill", Arity: -3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous connection",
				Group: "connection", Since: "2.4.0", Complexity: "O(N) where N is the number of client connections",
				Summary:  "Kill the connection of a client",
				Synopsis: "addr|[ID id] [TYPE type] [USER user] [ADDR addr] [LADDR addr] [SKIPME yes|no] [MAXAGE s]", do: (*Session).clientKill,
			},
			{
				Name: "client|list", Arity: -2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous connection",
				Tips:  "nondeterministic_output",
				Group: "connection", Since: "2.4.0", Complexity: "O(N) where N is the number of client connections",
				Summary:  "Get the list of client connections",
				Synopsis: "[TYPE type|ID id [id ...]]", do: (*Session).clientList,
			},
			{
				Name: "client|no-evict", Arity: 3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous connection",
				Group: "connection", Since: "7.0.0", Complexity: "O(1)",
				Summary:  "Set client eviction mode for the current connection",
				Synopsis: "ON|OFF", do: (*Session).clientNoEvict,
			},
			{
				Name: "client|no-touch", Arity: 3, Flags: "noscript loading stale", Categories: "slow connection",
				Group: "connection", Since: "7.2.0", Complexity: "O(1)",
				Summary:  "Controls whether commands sent by the client affect the LRU/LFU of accessed keys.",
				Synopsis: "ON|OFF", do: (*Session).clientNoTouch,
			},
			{
				Name: "client|reply", Arity: 3, Flags: "noscript loading stale", Categories: "slow connection",
				Group: "connection", Since: "3.2.0", Complexity: "O(1)",
				Summary:  "Instruct the server whether to reply to commands",
				Synopsis: "ON|OFF|SKIP", do: (*Session).clientReply,
			},
			{
				Name: "client|setinfo", Arity: 4, Flags: "noscript loading stale", Categories: "slow connection",
				Tips:  "request_policy:all_nodes response_policy:all_succeeded",
				Group: "connection", Since: "7.2.0", Complexity: "O(1)",
				Summary:  "Sets information specific to the client or connection.",
				Synopsis: "LIB-NAME name|LIB-VER version", do: (*Session).clientSetInfo,
			},
			{
				Name: "client|setname", Arity: 3, Flags: "noscript loading stale", Categories: "slow connection",
				Group: "connection", Since: "2.6.9", Complexity: "O(1)",
				Summary:  "Set the current connection name",
				Synopsis: "name", do: (*Session).clientSetName,
			},
		},
	},
	{
		Name: "echo", Arity: 2, Flags: "loading stale fast", Categories: "fast connection",
		Group: "connection", Since: "1.0.0", Complexity: "O(1)",
		Summary:  "Echo the given string",
		Synopsis: "message", do: (*Session).echo,
	},
	{
		Name: "hello", Arity: -1, Flags: "noscript loading stale fast no_auth allow_busy", Categories: "fast connection",
		Group: "connection", Since: "6.0.0", Complexity: "O(1)",
		Summary:  "Handshake with Redis",
		Synopsis: "[protover [AUTH username password] [SETNAME name]]", do: (*Session).hello,
	},
	{
		Name: "ping", Arity: -1, Flags: "fast", Categories: "fast connection",
		Tips:  "request_policy:all_shards response_policy:all_succeeded",
		Group: "connection", Since: "1.0.0", Complexity: "O(1)",
		Summary:  "Ping the server",
		Synopsis: "[message]", do: (*Session).ping,
	},
	{
		Name: "quit", Arity: -1, Flags: "noscript loading stale fast no_auth allow_busy", Categories: "fast connection",
		Group: "connection", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Close the connection",
		do:      (*Session).quit,
	},
	{
		Name: "reset", Arity: 1, Flags: "noscript loading stale fast no_auth allow_busy", Categories: "fast connection",
		Group: "connection", Since: "6.2.0", Complexity: "O(1)",
		Summary: "Reset the connection",
		do:      (*Session).reset,
	},
	{
		Name: "select", Arity: 2, Flags: "loading stale fast", Categories: "fast connection",
		Group: "connection", Since: "1.0.0", Complexity: "O(1)",
		Summary:  "Change the selected database for the current connection",
		Synopsis: "index", do: (*Session).selectDB,
	},
}
