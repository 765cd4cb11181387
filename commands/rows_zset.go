package commands

var zsetRows = []*Command{
	{
		Name: "bzmpop", Arity: -5, Flags: "write blocking movablekeys", Categories: "write sortedset slow blocking",
		KeyFlags: "RW access delete", do: (*Session).block,
	},
	{
		Name: "bzpopmax", Arity: -3, Flags: "write blocking fast", Categories: "write sortedset fast blocking", FirstKey: 1, LastKey: -2, Step: 1,
		KeyFlags: "RW access delete", do: (*Session).block,
	},
	{
		Name: "bzpopmin", Arity: -3, Flags: "write blocking fast", Categories: "write sortedset fast blocking", FirstKey: 1, LastKey: -2, Step: 1,
		KeyFlags: "RW access delete", do: (*Session).block,
	},
	{
		Name: "zmpop", Arity: -4, Flags: "write movablekeys", Categories: "write sortedset slow",
		CountAt: 1, KeyFlags: "RW access delete", do: (*Session).byScript,
	},
	{
		Name: "zpopmax", Arity: -2, Flags: "write fast", Categories: "write sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access delete", do: (*Session).byScript,
	},
	{
		Name: "zpopmin", Arity: -2, Flags: "write fast", Categories: "write sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access delete", do: (*Session).byScript,
	},
	{
		Name: "zadd", Arity: -4, Flags: "write denyoom fast", Categories: "write sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW update", do: (*Session).byScript,
	},
	{
		Name: "zcard", Arity: 2, Flags: "readonly fast", Categories: "read sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO", do: (*Session).byScript,
	},
	{
		Name: "zcount", Arity: 4, Flags: "readonly fast", Categories: "read sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "zincrby", Arity: 4, Flags: "write denyoom fast", Categories: "write sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access update", do: (*Session).byScript,
	},
	{
		Name: "zmscore", Arity: -3, Flags: "readonly fast", Categories: "read sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "zrange", Arity: -4, Flags: "readonly", Categories: "read sortedset slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "zrangebyscore", Arity: -4, Flags: "readonly", Categories: "read sortedset slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "zrank", Arity: -3, Flags: "readonly fast", Categories: "read sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "zrem", Arity: -3, Flags: "write fast", Categories: "write sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW delete", do: (*Session).byScript,
	},
	{
		Name: "zremrangebyrank", Arity: 4, Flags: "write", Categories: "write sortedset slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW delete", do: (*Session).byScript,
	},
	{
		Name: "zremrangebyscore", Arity: 4, Flags: "write", Categories: "write sortedset slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW delete", do: (*Session).byScript,
	},
	{
		Name: "zrevrange", Arity: -4, Flags: "readonly", Categories: "read sortedset slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "zrevrangebyscore", Arity: -4, Flags: "readonly", Categories: "read sortedset slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "zrevrank", Arity: -3, Flags: "readonly fast", Categories: "read sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "zscan", Arity: -3, Flags: "readonly", Categories: "read sortedset slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", Tips: "nondeterministic_output", do: (*Session).byScript,
	},
	{
		Name: "zscore", Arity: 3, Flags: "readonly fast", Categories: "read sortedset fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
}
