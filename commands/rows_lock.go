package commands

var lockRows = []*Command{
	{
		Name: "set", Arity: -3, Flags: "write denyoom", Categories: "write string slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW access update variable_flags", do: (*Session).set,
	},
	{
		Name: "setnx", Arity: 3, Flags: "write denyoom fast", Categories: "write string fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "OW insert", do: (*Session).setnx,
	},
	{
		Name: "setex", Arity: 4, Flags: "write denyoom", Categories: "write string slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "OW update", do: (*Session).setex,
	},
	{
		Name: "psetex", Arity: 4, Flags: "write denyoom", Categories: "write string slow", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "OW update", do: (*Session).setex,
	},
	{
		Name: "get", Arity: 2, Flags: "readonly fast", Categories: "read string fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", do: (*Session).get,
	},
	{
		Name: "strlen", Arity: 2, Flags: "readonly fast", Categories: "read string fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO", do: (*Session).strlen,
	},
	{
		Name: "exists", Arity: -2, Flags: "readonly fast", Categories: "keyspace read fast", FirstKey: 1, LastKey: -1, Step: 1,
		KeyFlags: "RO", Tips: "request_policy:multi_shard response_policy:agg_sum", do: (*Session).exists,
	},
	{
		Name: "del", Arity: -2, Flags: "write", Categories: "keyspace write slow", FirstKey: 1, LastKey: -1, Step: 1,
		KeyFlags: "RM delete", Tips: "request_policy:multi_shard response_policy:agg_sum", do: (*Session).del,
	},
	{
		Name: "unlink", Arity: -2, Flags: "write fast", Categories: "keyspace write fast", FirstKey: 1, LastKey: -1, Step: 1,
		KeyFlags: "RM delete", Tips: "request_policy:multi_shard response_policy:agg_sum", do: (*Session).del,
	},
	{
		Name: "delex", Arity: -2, Flags: "write fast", Categories: "write string fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW delete variable_flags", do: (*Session).delex,
	},
	{
		Name: "type", Arity: 2, Flags: "readonly fast", Categories: "keyspace read fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO", do: (*Session).typeOf,
	},
	{
		Name: "ttl", Arity: 2, Flags: "readonly fast", Categories: "keyspace read fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", Tips: "nondeterministic_output", do: (*Session).ttl,
	},
	{
		Name: "pttl", Arity: 2, Flags: "readonly fast", Categories: "keyspace read fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RO access", Tips: "nondeterministic_output", do: (*Session).pttl,
	},
	{
		Name: "expire", Arity: -3, Flags: "write fast", Categories: "keyspace write fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW update", do: (*Session).expire,
	},
	{
		Name: "pexpire", Arity: -3, Flags: "write fast", Categories: "keyspace write fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW update", do: (*Session).expire,
	},
	{
		Name: "expireat", Arity: -3, Flags: "write fast", Categories: "keyspace write fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW update", do: (*Session).expire,
	},
	{
		Name: "pexpireat", Arity: -3, Flags: "write fast", Categories: "keyspace write fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW update", do: (*Session).expire,
	},
	{
		Name: "persist", Arity: 2, Flags: "write fast", Categories: "keyspace write fast", FirstKey: 1, LastKey: 1, Step: 1,
		KeyFlags: "RW update", do: (*Session).persist,
	},
}
