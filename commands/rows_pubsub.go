package commands

var pubsubRows = []*Command{
	{
		Name: "subscribe", Arity: -2, Flags: "pubsub noscript loading stale", Categories: "pubsub slow",
		do: (*Session).subscribe,
	},
	{
		Name: "psubscribe", Arity: -2, Flags: "pubsub noscript loading stale", Categories: "pubsub slow",
		do: (*Session).psubscribe,
	},
	{
		Name: "unsubscribe", Arity: -1, Flags: "pubsub noscript loading stale", Categories: "pubsub slow",
		do: (*Session).unsubscribe,
	},
	{
		Name: "punsubscribe", Arity: -1, Flags: "pubsub noscript loading stale", Categories: "pubsub slow",
		do: (*Session).punsubscribe,
	},
	{
		Name: "publish", Arity: 3, Flags: "pubsub loading stale fast", Categories: "pubsub fast",
		do: (*Session).publish,
	},
	{
		Name: "ssubscribe", Arity: -2, Flags: "pubsub noscript loading stale", Categories: "pubsub slow", LastShard: -1,
		do: (*Session).ssubscribe,
	},
	{
		Name: "sunsubscribe", Arity: -1, Flags: "pubsub noscript loading stale", Categories: "pubsub slow", LastShard: -1,
		do: (*Session).sunsubscribe,
	},
	{
		Name: "spublish", Arity: 3, Flags: "pubsub loading stale fast", Categories: "pubsub fast", LastShard: 1,
		do: (*Session).spublish,
	},
	{
		Name: "pubsub", Arity: -2, Categories: "slow",
		Subcommands: []*Command{
			{
				Name: "pubsub|channels", Arity: -2, Flags: "pubsub loading stale", Categories: "pubsub slow",
				do: (*Session).pubsubChannels,
			},
			{
				Name: "pubsub|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				do: (*Session).help,
			},
			{
				Name: "pubsub|numpat", Arity: 2, Flags: "pubsub loading stale", Categories: "pubsub slow",
				do: (*Session).pubsubNumPat,
			},
			{
				Name: "pubsub|numsub", Arity: -2, Flags: "pubsub loading stale", Categories: "pubsub slow",
				do: (*Session).pubsubNumSub,
			},
			{
				Name: "pubsub|shardchannels", Arity: -2, Flags: "pubsub loading stale", Categories: "pubsub slow",
				do: (*Session).pubsubChannels,
			},
			{
				Name: "pubsub|shardnumsub", Arity: -2, Flags: "pubsub loading stale", Categories: "pubsub slow",
				do: (*Session).pubsubNumSub,
			},
		},
	},
}
