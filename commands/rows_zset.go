package commands

var zsetRows = []*Command{
	{
		Name: "zadd", Arity: -4, Flags: "write denyoom fast", Categories: "write sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW update",
		Group:    "sorted-set", Since: "1.2.0", Complexity: "O(log(N)) for each item added, where N is the number of elements in the sorted set.",
		Summary:  "Add one or more members to a sorted set, or update its score if it already exists",
		Synopsis: "key [NX|XX] [GT|LT] [CH] [INCR] score member [score member ...]", do: (*Session).carryOut,
	},
	{
		Name: "zcard", Arity: 2, Flags: "readonly fast", Categories: "read sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO",
		Group:    "sorted-set", Since: "1.2.0", Complexity: "O(1)",
		Summary:  "Get the number of members in a sorted set",
		Synopsis: "key", do: (*Session).carryOut,
	},
	{
		Name: "zcount", Arity: 4, Flags: "readonly fast", Categories: "read sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access",
		Group:    "sorted-set", Since: "2.0.0", Complexity: "O(log(N)) with N being the number of elements in the sorted set.",
		Summary:  "Count the members in a sorted set with scores within the given values",
		Synopsis: "key min max", do: (*Session).carryOut,
	},
	{
		Name: "zrange", Arity: -4, Flags: "readonly", Categories: "read sortedset slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access",
		Group:    "sorted-set", Since: "1.2.0", Complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements returned.",
		Summary:  "Return a range of members in a sorted set",
		Synopsis: "key start stop [BYSCORE|BYLEX] [REV] [LIMIT offset count] [WITHSCORES]", do: (*Session).carryOut,
	},
	{
		Name: "zrem", Arity: -3, Flags: "write fast", Categories: "write sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW delete",
		Group:    "sorted-set", Since: "1.2.0", Complexity: "O(M*log(N)) with N being the number of elements in the sorted set and M the number of elements to be removed.",
		Summary:  "Remove one or more members from a sorted set",
		Synopsis: "key member [member ...]", do: (*Session).carryOut,
	},
	{
		Name: "zremrangebyscore", Arity: 4, Flags: "write", Categories: "write sortedset slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW delete",
		Group:    "sorted-set", Since: "1.2.0", Complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements removed by the operation.",
		Summary:  "Remove all members in a sorted set within the given scores",
		Synopsis: "key min max", do: (*Session).carryOut,
	},
	{
		Name: "zscore", Arity: 3, Flags: "readonly fast", Categories: "read sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access",
		Group:    "sorted-set", Since: "1.2.0", Complexity: "O(1)",
		Summary:  "Get the score associated with the given member in a sorted set",
		Synopsis: "key member", do: (*Session).carryOut,
	},
}
