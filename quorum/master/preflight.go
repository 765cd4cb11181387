package master

import (
	"fmt"
	"strconv"

	"redlock-proxy/quorum/marker"
)

// What a server must be to be a master of a set, beside being there. It is looked
// at on each connection, before the first command.

// unfit judges a server by its INFO. It is pure.
func unfit(info map[string]string) error {
	switch {
	case info["redis_mode"] == "sentinel":
		return marker.NewUnfit("it is a Sentinel, which keeps no keys", "name the master's own address")
	case info["cluster_enabled"] == "1":
		return marker.NewUnfit("it is a cluster node, which gives its keys away and is replaced by a replica that may lack some",
			"start it with cluster-enabled no, as a master that stands for itself")
	case info["role"] != "master":
		text := "it is a replica"
		if host := info["master_host"]; host != "" {
			text += " of " + host + ":" + info["master_port"]
		}
		return marker.NewUnfit(text+", which holds what another server decides",
			"name that one instead, or make this one independent by REPLICAOF NO ONE")
	case evicts(info):
		return marker.NewUnfit(fmt.Sprintf("its maxmemory-policy is %s, so that it throws locks away when %s bytes are full", info["maxmemory_policy"], info["maxmemory"]),
			"set maxmemory-policy noeviction, or maxmemory 0")
	}
	return nil
}

// evicts tells that a server deletes keys of its own accord when its memory is
// full. All other policies than one do: volatile ones delete keys with a ttl, which
// is what locks are.
func evicts(info map[string]string) bool {
	policy := info["maxmemory_policy"]
	limit, err := strconv.ParseInt(info["maxmemory"], 10, 64)
	return err == nil && limit > 0 && policy != "" && policy != "noeviction"
}
