package commands

// operatorRows are for whoever runs the masters. No Redis has them.
var operatorRows = []*Command{
	{
		Name: "lock", Arity: -2, Categories: "slow",
		Group: "server", Since: "1.0.0", Complexity: "Depends on subcommand.",
		Summary:  "A container for the commands about the masters of a lock proxy",
		Synopsis: "subcommand ...",
		Subcommands: []*Command{
			{
				Name: "lock|admit", Arity: 3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Group: "server", Since: "1.0.0", Complexity: "O(1)",
				Summary:  "End the quarantine of a master by hand: locks that it has lost may then be given a second time. Needs allow-dangerous.",
				Synopsis: "master", do: (*Session).lockAdmit,
			},
			{
				Name: "lock|drain", Arity: -3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Group: "server", Since: "1.0.0", Complexity: "O(1)",
				Summary:  "Ask a master for no votes, until LOCK RESUME or the restart of this proxy; FORCE also if no quorum is left then. Needs allow-dangerous.",
				Synopsis: "master [FORCE]", do: (*Session).lockDrain,
			},
			{
				Name: "lock|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				Group: "server", Since: "1.0.0", Complexity: "O(1)",
				Summary: "Show helpful text about the different subcommands",
				do:      (*Session).help,
			},
			{
				Name: "lock|masters", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips:  "nondeterministic_output",
				Group: "server", Since: "1.0.0", Complexity: "O(N) where N is the number of masters",
				Summary: "Tell how each master stands: state, since when and why, quarantine, votes, clock",
				do:      (*Session).lockMasters,
			},
			{
				Name: "lock|resume", Arity: 3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Group: "server", Since: "1.0.0", Complexity: "O(1)",
				Summary:  "Ask a drained master for votes again. Needs allow-dangerous.",
				Synopsis: "master", do: (*Session).lockResume,
			},
		},
	},
}
