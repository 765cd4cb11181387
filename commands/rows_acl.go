package commands

var aclRows = []*Command{
	{
		Name: "acl", Arity: -2, Categories: "slow",
		Subcommands: []*Command{
			{
				Name: "acl|cat", Arity: -2, Flags: "noscript loading stale", Categories: "slow",
				do: (*Session).aclCat,
			},
			{
				Name: "acl|deluser", Arity: -3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "request_policy:all_nodes response_policy:all_succeeded", do: (*Session).aclDelUser,
			},
			{
				Name: "acl|dryrun", Arity: -4, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).aclDryRun,
			},
			{
				Name: "acl|genpass", Arity: -2, Flags: "noscript loading stale", Categories: "slow",
				do: (*Session).aclGenPass,
			},
			{
				Name: "acl|getuser", Arity: 3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).aclGetUser,
			},
			{
				Name: "acl|help", Arity: 2, Flags: "loading stale", Categories: "slow",
				do: (*Session).help,
			},
			{
				Name: "acl|list", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).aclList,
			},
			{
				Name: "acl|load", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).aclLoad,
			},
			{
				Name: "acl|log", Arity: -2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).aclLog,
			},
			{
				Name: "acl|save", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "request_policy:all_nodes response_policy:all_succeeded", do: (*Session).aclSave,
			},
			{
				Name: "acl|setuser", Arity: -3, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				Tips: "request_policy:all_nodes response_policy:all_succeeded", do: (*Session).aclSetUser,
			},
			{
				Name: "acl|users", Arity: 2, Flags: "admin noscript loading stale", Categories: "admin slow dangerous",
				do: (*Session).aclUsers,
			},
			{
				Name: "acl|whoami", Arity: 2, Flags: "noscript loading stale", Categories: "slow",
				do: (*Session).aclWhoAmI,
			},
		},
	},
}
