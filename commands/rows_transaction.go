package commands

var transactionRows = []*Command{
	{
		Name: "discard", Arity: 1, Flags: "noscript loading stale fast allow_busy", Categories: "fast transaction",
		Group: "transactions", Since: "2.0.0", Complexity: "O(N), when N is the number of queued commands",
		Summary: "Discard all commands issued after MULTI",
		do:      (*Session).discard,
	},
	{
		Name: "exec", Arity: 1, Flags: "noscript loading stale skip_slowlog", Categories: "slow transaction",
		Group: "transactions", Since: "1.2.0", Complexity: "Depends on commands in the transaction",
		Summary: "Execute all commands issued after MULTI",
		do:      (*Session).exec,
	},
	{
		Name: "multi", Arity: 1, Flags: "noscript loading stale fast allow_busy", Categories: "fast transaction",
		Group: "transactions", Since: "1.2.0", Complexity: "O(1)",
		Summary: "Mark the start of a transaction block",
		do:      (*Session).multi,
	},
	{
		Name: "unwatch", Arity: 1, Flags: "noscript loading stale fast allow_busy", Categories: "fast transaction",
		Group: "transactions", Since: "2.2.0", Complexity: "O(1)",
		Summary: "Forget about all watched keys",
		do:      (*Session).unwatch,
	},
	{
		Name: "watch", Arity: -2, Flags: "noscript loading stale fast allow_busy", Categories: "fast transaction", FirstKey: 1, LastKey: -1, Step: 1,
		KeyFlags: "RO",
		Group:    "transactions", Since: "2.2.0", Complexity: "O(1) for every key.",
		Summary:  "Watch the given keys to determine execution of the MULTI/EXEC block",
		Synopsis: "key [key ...]", do: (*Session).watchKeys,
	},
}
