package commands

// operatorRows are for whoever runs the masters. No Redis has them.
var operatorRows = []*Command{
	{
		Name: "lock", Arity: -2, Categories: "slow",
		Subcommands: []*Command{
			{
				Name: "lock|admit", Arity: 3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).lockAdmit,
			},
			{
				Name: "lock|drain", Arity: -3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).lockDrain,
			},
			{
				Name: "lock|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				do: (*Session).help,
			},
			{
				Name: "lock|masters", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "nondeterministic_output", do: (*Session).lockMasters,
			},
			{
				Name: "lock|resume", Arity: 3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).lockResume,
			},
		},
	},
}
