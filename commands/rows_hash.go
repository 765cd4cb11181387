package commands

var hashRows = []*Command{
	{
		Name: "hdel", Arity: -3, Flags: "write fast", Categories: "write hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW delete",
		Group:    "hash", Since: "2.0.0", Complexity: "O(N) where N is the number of fields to be removed.",
		Summary:  "Delete one or more hash fields",
		Synopsis: "key field [field ...]", do: (*Session).carryOut,
	},
	{
		Name: "hexists", Arity: 3, Flags: "readonly fast", Categories: "read hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO",
		Group:    "hash", Since: "2.0.0", Complexity: "O(1)",
		Summary:  "Determine if a hash field exists",
		Synopsis: "key field", do: (*Session).carryOut,
	},
	{
		Name: "hget", Arity: 3, Flags: "readonly fast", Categories: "read hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access",
		Group:    "hash", Since: "2.0.0", Complexity: "O(1)",
		Summary:  "Get the value of a hash field",
		Synopsis: "key field", do: (*Session).carryOut,
	},
	{
		Name: "hgetall", Arity: 2, Flags: "readonly", Categories: "read hash slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", Tips: "nondeterministic_output_order",
		Group: "hash", Since: "2.0.0", Complexity: "O(N) where N is the size of the hash.",
		Summary:  "Get all the fields and values in a hash",
		Synopsis: "key", do: (*Session).carryOut,
	},
	{
		Name: "hincrby", Arity: 4, Flags: "write denyoom fast", Categories: "write hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access update",
		Group:    "hash", Since: "2.0.0", Complexity: "O(1)",
		Summary:  "Increment the integer value of a hash field by the given number",
		Synopsis: "key field increment", do: (*Session).carryOut,
	},
	{
		Name: "hlen", Arity: 2, Flags: "readonly fast", Categories: "read hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO",
		Group:    "hash", Since: "2.0.0", Complexity: "O(1)",
		Summary:  "Get the number of fields in a hash",
		Synopsis: "key", do: (*Session).carryOut,
	},
	{
		Name: "hmget", Arity: -3, Flags: "readonly fast", Categories: "read hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access",
		Group:    "hash", Since: "2.0.0", Complexity: "O(N) where N is the number of fields being requested.",
		Summary:  "Get the values of all the given hash fields",
		Synopsis: "key field [field ...]", do: (*Session).carryOut,
	},
	{
		Name: "hset", Arity: -4, Flags: "write denyoom fast", Categories: "write hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW update",
		Group:    "hash", Since: "2.0.0", Complexity: "O(1) for each field/value pair added, so O(N) to add N field/value pairs when the command is called with multiple field/value pairs.",
		Summary:  "Set the string value of a hash field",
		Synopsis: "key field value [field value ...]", do: (*Session).carryOut,
	},
	{
		Name: "hsetnx", Arity: 4, Flags: "write denyoom fast", Categories: "write hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW insert",
		Group:    "hash", Since: "2.0.0", Complexity: "O(1)",
		Summary:  "Set the value of a hash field, only if the field does not exist",
		Synopsis: "key field value", do: (*Session).carryOut,
	},
}
