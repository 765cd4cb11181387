package commands

var setRows = []*Command{
	{
		Name: "sadd", Arity: -3, Flags: "write denyoom fast", Categories: "write set fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW insert",
		Group:    "set", Since: "1.0.0", Complexity: "O(1) for each element added, so O(N) to add N elements when the command is called with multiple arguments.",
		Summary:  "Add one or more members to a set",
		Synopsis: "key member [member ...]", do: (*Session).carryOut,
	},
	{
		Name: "scard", Arity: 2, Flags: "readonly fast", Categories: "read set fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO",
		Group:    "set", Since: "1.0.0", Complexity: "O(1)",
		Summary:  "Get the number of members in a set",
		Synopsis: "key", do: (*Session).carryOut,
	},
	{
		Name: "sismember", Arity: 3, Flags: "readonly fast", Categories: "read set fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO",
		Group:    "set", Since: "1.0.0", Complexity: "O(1)",
		Summary:  "Determine if a given value is a member of a set",
		Synopsis: "key member", do: (*Session).carryOut,
	},
	{
		Name: "smembers", Arity: 2, Flags: "readonly", Categories: "read set slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", Tips: "nondeterministic_output_order",
		Group: "set", Since: "1.0.0", Complexity: "O(N) where N is the set cardinality.",
		Summary:  "Get all the members in a set",
		Synopsis: "key", do: (*Session).carryOut,
	},
	{
		Name: "srem", Arity: -3, Flags: "write fast", Categories: "write set fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW delete",
		Group:    "set", Since: "1.0.0", Complexity: "O(N) where N is the number of members to be removed.",
		Summary:  "Remove one or more members from a set",
		Synopsis: "key member [member ...]", do: (*Session).carryOut,
	},
}
