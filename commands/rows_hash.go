package commands

var hashRows = []*Command{
	{
		Name: "hdel", Arity: -3, Flags: "write fast", Categories: "write hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW delete", do: (*Session).byScript,
	},
	{
		Name: "hexists", Arity: 3, Flags: "readonly fast", Categories: "read hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO", do: (*Session).byScript,
	},
	{
		Name: "hget", Arity: 3, Flags: "readonly fast", Categories: "read hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "hgetall", Arity: 2, Flags: "readonly", Categories: "read hash slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", Tips: "nondeterministic_output_order", do: (*Session).byScript,
	},
	{
		Name: "hincrby", Arity: 4, Flags: "write denyoom fast", Categories: "write hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access update", do: (*Session).byScript,
	},
	{
		Name: "hkeys", Arity: 2, Flags: "readonly", Categories: "read hash slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", Tips: "nondeterministic_output_order", do: (*Session).byScript,
	},
	{
		Name: "hlen", Arity: 2, Flags: "readonly fast", Categories: "read hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO", do: (*Session).byScript,
	},
	{
		Name: "hmget", Arity: -3, Flags: "readonly fast", Categories: "read hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "hmset", Arity: -4, Flags: "write denyoom fast", Categories: "write hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW update", do: (*Session).byScript,
	},
	{
		Name: "hscan", Arity: -3, Flags: "readonly", Categories: "read hash slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", Tips: "nondeterministic_output", do: (*Session).byScript,
	},
	{
		Name: "hset", Arity: -4, Flags: "write denyoom fast", Categories: "write hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW update", do: (*Session).byScript,
	},
	{
		Name: "hsetnx", Arity: 4, Flags: "write denyoom fast", Categories: "write hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW insert", do: (*Session).byScript,
	},
	{
		Name: "hstrlen", Arity: 3, Flags: "readonly fast", Categories: "read hash fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO", do: (*Session).byScript,
	},
	{
		Name: "hvals", Arity: 2, Flags: "readonly", Categories: "read hash slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", Tips: "nondeterministic_output_order", do: (*Session).byScript,
	},
}
