package master

import (
	"strings"
	"testing"
)

func TestUnfitServersAreToldWithTheirCure(t *testing.T) {
	for _, c := range []struct{ info, want string }{
		{"role:master", ""},
		{"role:master connected_slaves:2", ""},
		{"role:master maxmemory:0 maxmemory_policy:allkeys-lru", ""},
		{"role:master maxmemory:100 maxmemory_policy:noeviction", ""},
		{"role:master maxmemory:100", ""}, // it does not say
		{"role:master maxmemory:100 maxmemory_policy:allkeys-lru",
			"its maxmemory-policy is allkeys-lru, so that it throws locks away when 100 bytes are full: set maxmemory-policy noeviction, or maxmemory 0"},
		{"role:master maxmemory:100 maxmemory_policy:volatile-ttl",
			"its maxmemory-policy is volatile-ttl, so that it throws locks away when 100 bytes are full: set maxmemory-policy noeviction, or maxmemory 0"},
		{"role:slave master_host:10.0.0.1 master_port:6379",
			"it is a replica of 10.0.0.1:6379, which holds what another server decides: name that one instead, or make this one independent by REPLICAOF NO ONE"},
		{"role:replica", "it is a replica, which holds what another server decides: name that one instead, or make this one independent by REPLICAOF NO ONE"},
		{"role:master cluster_enabled:1",
			"it is a cluster node, which gives its keys away and is replaced by a replica that may lack some: start it with cluster-enabled no, as a master that stands for itself"},
		{"redis_mode:sentinel", "it is a Sentinel, which keeps no keys: name the master's own address"},
	} {
		info := make(map[string]string)
		for word := range strings.FieldsSeq(c.info) {
			name, value, _ := strings.Cut(word, ":")
			info[name] = value
		}
		got := ""
		if err := unfit(info); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.info, got, c.want)
		}
	}
}
