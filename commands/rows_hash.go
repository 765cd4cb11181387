package commands

var hashRows = []*Command{
	{
		Name: "hdel", Arity: -3, Flags: "write fast", Categories: "write hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW delete", do: (*Session).carryOut,
	},
	{
		Name: "hexists", Arity: 3, Flags: "readonly fast", Categories: "read hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO", do: (*Session).carryOut,
	},
	{
		Name: "hget", Arity: 3, Flags: "readonly fast", Categories: "read hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).carryOut,
	},
	{
		Name: "hgetall", Arity: 2, Flags: "readonly", Categories: "read hash slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", Tips: "nondeterministic_output_order", do: (*Session).carryOut,
	},
	{
		Name: "hincrby", Arity: 4, Flags: "write denyoom fast", Categories: "write hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access update", do: (*Session).carryOut,
	},
	{
		Name: "hlen", Arity: 2, Flags: "readonly fast", Categories: "read hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO", do: (*Session).carryOut,
	},
	{
		Name: "hmget", Arity: -3, Flags: "readonly fast", Categories: "read hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).carryOut,
	},
	{
		Name: "hset", Arity: -4, Flags: "write denyoom fast", Categories: "write hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW update", do: (*Session).carryOut,
	},
	{
		Name: "hsetnx", Arity: 4, Flags: "write denyoom fast", Categories: "write hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW insert", do: (*Session).carryOut,
	},
}
