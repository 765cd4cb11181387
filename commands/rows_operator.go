package commands

// operatorRows are for whoever runs the masters. No Redis has them.
var operatorRows = []*Command{
	{
		Name: "lock", Arity: -2, Categories: "slow",
		Subcommands: []*Command{
			{
				Name: "lock|admit", Arity: -3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).lockAdmit,
			},
			{
				Name: "lock|drain", Arity: -3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).lockDrain,
			},
			{
				Name: "lock|events", Arity: -2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "nondeterministic_output", do: (*Session).lockEvents,
			},
			{
				Name: "lock|explain", Arity: 3, Flags: "readonly admin noscript loading stale", Categories: "admin slow dangerous",
				FirstKey: 2, LastKey: 2, Step: 1, KeyFlags: "RO access",
				Tips: "nondeterministic_output", do: (*Session).lockExplain,
			},
			{
				Name: "lock|force", Arity: -5, Flags: "write admin noscript", Categories: "admin slow dangerous",
				FirstKey: 2, LastKey: 2, Step: 1, KeyFlags: "RW access delete",
				Tips: "nondeterministic_output", do: (*Session).lockForce,
			},
			{
				Name: "lock|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				do: (*Session).help,
			},
			{
				Name: "lock|info", Arity: 3, Flags: "readonly admin noscript", Categories: "admin slow dangerous",
				FirstKey: 2, LastKey: 2, Step: 1, KeyFlags: "RO access",
				Tips: "nondeterministic_output", do: (*Session).lockInfo,
			},
			{
				Name: "lock|list", Arity: -2, Flags: "readonly admin noscript", Categories: "admin slow dangerous",
				Tips: "nondeterministic_output", do: (*Session).lockList,
			},
			{
				Name: "lock|masters", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "nondeterministic_output", do: (*Session).lockMasters,
			},
			{
				Name: "lock|proxies", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "nondeterministic_output", do: (*Session).lockProxies,
			},
			{
				Name: "lock|resume", Arity: -3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).lockResume,
			},
			{
				Name: "lock|status", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "nondeterministic_output", do: (*Session).lockStatus,
			},
			{
				Name: "lock|top", Arity: -2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "nondeterministic_output", do: (*Session).lockTop,
			},
		},
	},
}
