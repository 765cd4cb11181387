package commands

var transactionRows = []*Command{
	{
		Name: "discard", Arity: 1, Flags: "noscript loading stale fast allow_busy", Categories: "fast transaction",
		do: (*Session).discard,
	},
	{
		Name: "exec", Arity: 1, Flags: "noscript loading stale skip_slowlog", Categories: "slow transaction",
		do: (*Session).exec,
	},
	{
		Name: "multi", Arity: 1, Flags: "noscript loading stale fast allow_busy", Categories: "fast transaction",
		do: (*Session).multi,
	},
	{
		Name: "unwatch", Arity: 1, Flags: "noscript loading stale fast allow_busy", Categories: "fast transaction",
		do: (*Session).unwatch,
	},
	{
		Name: "watch", Arity: -2, Flags: "noscript loading stale fast allow_busy", Categories: "fast transaction", FirstKey: 1, LastKey: -1, Step: 1,
		KeyFlags: "RO", do: (*Session).watchKeys,
	},
}
