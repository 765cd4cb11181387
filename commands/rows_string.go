package commands

var stringRows = []*Command{
	{
		Name: "append", Arity: 3, Flags: "write denyoom fast", Categories: "write string fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW insert", do: (*Session).byScript,
	},
	{
		Name: "decr", Arity: 2, Flags: "write denyoom fast", Categories: "write string fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access update", do: (*Session).byScript,
	},
	{
		Name: "decrby", Arity: 3, Flags: "write denyoom fast", Categories: "write string fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access update", do: (*Session).byScript,
	},
	{
		Name: "getdel", Arity: 2, Flags: "write fast", Categories: "write string fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access delete", do: (*Session).byScript,
	},
	{
		Name: "getex", Arity: -2, Flags: "write fast", Categories: "write string fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access update", do: (*Session).getex,
	},
	{
		Name: "getrange", Arity: 4, Flags: "readonly", Categories: "read string slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).getrange,
	},
	{
		Name: "getset", Arity: 3, Flags: "write denyoom fast", Categories: "write string fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access update", do: (*Session).getset,
	},
	{
		Name: "incr", Arity: 2, Flags: "write denyoom fast", Categories: "write string fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access update", do: (*Session).byScript,
	},
	{
		Name: "incrby", Arity: 3, Flags: "write denyoom fast", Categories: "write string fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access update", do: (*Session).byScript,
	},
	{
		Name: "mget", Arity: -2, Flags: "readonly fast", Categories: "read string fast", FirstKey: 1, LastKey: -1, Step: 1,
		KeyFlags: "RO access", Tips: "request_policy:multi_shard", do: (*Session).mget,
	},
	{
		Name: "mset", Arity: -3, Flags: "write denyoom", Categories: "write string slow", FirstKey: 1, LastKey: -1, Step: 2,
		KeyFlags: "OW update", Tips: "request_policy:multi_shard response_policy:all_succeeded", do: (*Session).mset,
	},
	{
		Name: "msetnx", Arity: -3, Flags: "write denyoom", Categories: "write string slow", FirstKey: 1, LastKey: -1, Step: 2,
		KeyFlags: "OW insert", Tips: "request_policy:multi_shard response_policy:agg_min", do: (*Session).mset,
	},
}
