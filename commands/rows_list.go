package commands

var listRows = []*Command{
	{
		Name: "blmove", Arity: 6, Flags: "write denyoom blocking", Categories: "write list slow blocking", FirstKey: 1, LastKey: 2, Step: 1,
		KeyFlags: "RW access delete", SecondKey: "RW insert", do: (*Session).block,
	},
	{
		Name: "blmpop", Arity: -5, Flags: "write blocking movablekeys", Categories: "write list slow blocking",
		KeyFlags: "RW access delete", do: (*Session).block,
	},
	{
		Name: "blpop", Arity: -3, Flags: "write blocking", Categories: "write list slow blocking", FirstKey: 1, LastKey: -2, Step: 1,
		KeyFlags: "RW access delete", do: (*Session).block,
	},
	{
		Name: "brpop", Arity: -3, Flags: "write blocking", Categories: "write list slow blocking", FirstKey: 1, LastKey: -2, Step: 1,
		KeyFlags: "RW access delete", do: (*Session).block,
	},
	{
		Name: "brpoplpush", Arity: 4, Flags: "write denyoom blocking", Categories: "write list slow blocking", FirstKey: 1, LastKey: 2, Step: 1,
		KeyFlags: "RW access delete", SecondKey: "RW insert", do: (*Session).block,
	},
	{
		Name: "lindex", Arity: 3, Flags: "readonly", Categories: "read list slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "linsert", Arity: 5, Flags: "write denyoom", Categories: "write list slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW insert", do: (*Session).byScript,
	},
	{
		Name: "llen", Arity: 2, Flags: "readonly fast", Categories: "read list fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO", do: (*Session).byScript,
	},
	{
		Name: "lmove", Arity: 5, Flags: "write denyoom", Categories: "write list slow", FirstKey: 1, LastKey: 2, Step: 1,
		KeyFlags: "RW access delete", SecondKey: "RW insert", do: (*Session).byScript,
	},
	{
		Name: "lmpop", Arity: -4, Flags: "write movablekeys", Categories: "write list slow",
		CountAt: 1, KeyFlags: "RW access delete", do: (*Session).byScript,
	},
	{
		Name: "lpop", Arity: -2, Flags: "write fast", Categories: "write list fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access delete", do: (*Session).byScript,
	},
	{
		Name: "lpos", Arity: -3, Flags: "readonly", Categories: "read list slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "lpush", Arity: -3, Flags: "write denyoom fast", Categories: "write list fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW insert", do: (*Session).byScript,
	},
	{
		Name: "lpushx", Arity: -3, Flags: "write denyoom fast", Categories: "write list fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW insert", do: (*Session).byScript,
	},
	{
		Name: "lrange", Arity: 4, Flags: "readonly", Categories: "read list slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).byScript,
	},
	{
		Name: "lrem", Arity: 4, Flags: "write", Categories: "write list slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW delete", do: (*Session).byScript,
	},
	{
		Name: "lset", Arity: 4, Flags: "write denyoom", Categories: "write list slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW update", do: (*Session).byScript,
	},
	{
		Name: "ltrim", Arity: 4, Flags: "write", Categories: "write list slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW delete", do: (*Session).byScript,
	},
	{
		Name: "rpop", Arity: -2, Flags: "write fast", Categories: "write list fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access delete", do: (*Session).byScript,
	},
	{
		Name: "rpoplpush", Arity: 3, Flags: "write denyoom", Categories: "write list slow", FirstKey: 1, LastKey: 2, Step: 1,
		KeyFlags: "RW access delete", SecondKey: "RW insert", do: (*Session).byScript,
	},
	{
		Name: "rpush", Arity: -3, Flags: "write denyoom fast", Categories: "write list fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW insert", do: (*Session).byScript,
	},
	{
		Name: "rpushx", Arity: -3, Flags: "write denyoom fast", Categories: "write list fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW insert", do: (*Session).byScript,
	},
}
