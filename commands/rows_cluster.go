package commands

// clusterRows are the subcommands of CLUSTER with their arities. All of them are refused, as
// by a Redis that is none of a cluster.
func clusterRows() (rows []*Command) {
	for _, sub := range []struct {
		word  string
		arity int
	}{
		{"addslots", -3}, {"addslotsrange", -4}, {"bumpepoch", 2}, {"count-failure-reports", 3}, {"countkeysinslot", 3},
		{"delslots", -3}, {"delslotsrange", -4}, {"failover", -2}, {"flushslots", 2}, {"forget", 3}, {"getkeysinslot", 4},
		{"help", 2}, {"info", 2}, {"keyslot", 3}, {"links", 2}, {"meet", -4}, {"myid", 2}, {"nodes", 2}, {"replicas", 3},
		{"replicate", 3}, {"reset", -2}, {"saveconfig", 2}, {"set-config-epoch", 3}, {"setslot", -4}, {"shards", 2},
		{"slaves", 3}, {"slots", 2},
	} {
		rows = append(rows, &Command{
			Name: "cluster|" + sub.word, Arity: sub.arity, Flags: "loading stale", Categories: "slow",
			do: (*Session).cluster,
		})
	}
	return rows
}
