package commands

var pubsubRows = []*Command{
	{
		Name: "subscribe", Arity: -2, Flags: "pubsub noscript loading stale", Categories: "pubsub slow",
		Group: "pubsub", Since: "2.0.0", Complexity: "O(N) where N is the number of channels to subscribe to.",
		Summary:  "Listen for messages published to the given channels",
		Synopsis: "channel [channel ...]", do: (*Session).subscribe,
	},
	{
		Name: "psubscribe", Arity: -2, Flags: "pubsub noscript loading stale", Categories: "pubsub slow",
		Group: "pubsub", Since: "2.0.0", Complexity: "O(N) where N is the number of patterns the client is already subscribed to.",
		Summary:  "Listen for messages published to channels matching the given patterns",
		Synopsis: "pattern [pattern ...]", do: (*Session).psubscribe,
	},
	{
		Name: "unsubscribe", Arity: -1, Flags: "pubsub noscript loading stale", Categories: "pubsub slow",
		Group: "pubsub", Since: "2.0.0", Complexity: "O(N) where N is the number of clients already subscribed to a channel.",
		Summary:  "Stop listening for messages posted to the given channels",
		Synopsis: "[channel ...]", do: (*Session).unsubscribe,
	},
	{
		Name: "punsubscribe", Arity: -1, Flags: "pubsub noscript loading stale", Categories: "pubsub slow",
		Group: "pubsub", Since: "2.0.0", Complexity: "O(N+M) where N is the number of patterns the client is already subscribed and M is the number of total patterns subscribed in the system (by any client).",
		Summary:  "Stop listening for messages posted to channels matching the given patterns",
		Synopsis: "[pattern ...]", do: (*Session).punsubscribe,
	},
	{
		Name: "publish", Arity: 3, Flags: "pubsub loading stale fast", Categories: "pubsub fast",
		Group: "pubsub", Since: "2.0.0", Complexity: "O(N+M) where N is the number of clients subscribed to the receiving channel and M is the total number of subscribed patterns (by any client).",
		Summary:  "Post a message to a channel",
		Synopsis: "channel message", do: (*Session).publish,
	},
	{
		Name: "pubsub", Arity: -2, Categories: "slow",
		Group: "pubsub", Since: "2.8.0", Complexity: "Depends on subcommand.",
		Summary:  "A container for Pub/Sub commands",
		Synopsis: "CHANNELS|NUMPAT|NUMSUB ...",
		Subcommands: []*Command{
			{
				Name: "pubsub|channels", Arity: -2, Flags: "pubsub loading stale", Categories: "pubsub slow",
				Group: "pubsub", Since: "2.8.0", Complexity: "O(N) where N is the number of active channels, and assuming constant time pattern matching (relatively short channels and patterns)",
				Summary:  "List active channels",
				Synopsis: "[pattern]", do: (*Session).pubsubChannels,
			},
			{
				Name: "pubsub|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				Group: "pubsub", Since: "6.2.0", Complexity: "O(1)",
				Summary: "Show helpful text about the different subcommands",
				do:      (*Session).help,
			},
			{
				Name: "pubsub|numpat", Arity: 2, Flags: "pubsub loading stale", Categories: "pubsub slow",
				Group: "pubsub", Since: "2.8.0", Complexity: "O(1)",
				Summary: "Get the count of unique patterns pattern subscriptions",
				do:      (*Session).pubsubNumPat,
			},
			{
				Name: "pubsub|numsub", Arity: -2, Flags: "pubsub loading stale", Categories: "pubsub slow",
				Group: "pubsub", Since: "2.8.0", Complexity: "O(N) for the NUMSUB subcommand, where N is the number of requested channels",
				Summary:  "Get the count of subscribers for channels",
				Synopsis: "[channel ...]", do: (*Session).pubsubNumSub,
			},
			{
				Name: "pubsub|shardchannels", Arity: -2, Flags: "pubsub loading stale", Categories: "pubsub slow",
				Group: "pubsub", Since: "7.0.0", Complexity: "O(N) where N is the number of active shard channels, and assuming constant time pattern matching (relatively short shard channels).",
				Summary:  "List active shard channels",
				Synopsis: "[pattern]", do: (*Session).pubsubShardChannels,
			},
			{
				Name: "pubsub|shardnumsub", Arity: -2, Flags: "pubsub loading stale", Categories: "pubsub slow",
				Group: "pubsub", Since: "7.0.0", Complexity: "O(N) for the SHARDNUMSUB subcommand, where N is the number of requested shard channels",
				Summary:  "Get the count of subscribers for shard channels",
				Synopsis: "[shardchannel ...]", do: (*Session).pubsubShardNumSub,
			},
		},
	},
}
