package commands

var setRows = []*Command{
	{
		Name: "sadd", Arity: -3, Flags: "write denyoom fast", Categories: "write set fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW insert", do: (*Session).byScript,
	},
	{
		Name: "scard", Arity: 2, Flags: "readonly fast", Categories: "read set fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO", do: (*Session).byScript,
	},
	{
		Name: "sismember", Arity: 3, Flags: "readonly fast", Categories: "read set fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO", do: (*Session).byScript,
	},
	{
		Name: "smembers", Arity: 2, Flags: "readonly", Categories: "read set slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", Tips: "nondeterministic_output_order", do: (*Session).byScript,
	},
	{
		Name: "smismember", Arity: -3, Flags: "readonly fast", Categories: "read set fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "spop", Arity: -2, Flags: "write fast", Categories: "write set fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access delete", Tips: "nondeterministic_output", do: (*Session).byScript,
	},
	{
		Name: "srandmember", Arity: -2, Flags: "readonly", Categories: "read set slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", Tips: "nondeterministic_output", do: (*Session).byScript,
	},
	{
		Name: "srem", Arity: -3, Flags: "write fast", Categories: "write set fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW delete", do: (*Session).byScript,
	},
	{
		Name: "sscan", Arity: -3, Flags: "readonly", Categories: "read set slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", Tips: "nondeterministic_output", do: (*Session).byScript,
	},
}
