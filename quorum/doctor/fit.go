package doctor

import (
	"fmt"
	"strings"
)

// cureOfAway is what to do about a server that could not be asked, by the words of what kept us.
func cureOfAway(why string) string {
	switch {
	case strings.Contains(why, "DENIED"):
		return "it is in protected mode: give its users a password (ACL SETUSER, or requirepass) and name that in master-password-file, or bind it to an address that only proxies reach and set protected-mode no"
	case strings.Contains(why, "NOAUTH"):
		return "name its password in master-password-file, and its user in master-user"
	case strings.Contains(why, "WRONGPASS"), strings.Contains(why, "without any password"):
		return "correct master-user and master-password-file; ACL LIST on the master shows its users"
	case strings.Contains(why, "BUSY"):
		return "somebody's script keeps it busy: SCRIPT KILL ends one that has written nothing"
	case strings.Contains(why, "LOADING"):
		return "wait until it has read what it keeps on disk"
	case strings.Contains(why, "remote error: tls:"):
		return "name a certificate that it accepts, for clients, in master-tls-cert-file, and its key in master-tls-key-file"
	case strings.Contains(why, "tls: failed to verify certificate"):
		return "name the CA that signs its certificate in master-tls-ca-cert-file, and if that bears another name than its address does, that in master-tls-server-name"
	case strings.Contains(why, "tls: first record does not look like"):
		return "it speaks no TLS there: write redis:// for rediss://, or name its port with TLS"
	case strings.Contains(why, "timeout"):
		return "see whether it hangs or is cut off, whether connect-timeout is too short for the way there, and if it is a rediss:// master, whether it speaks TLS at that port"
	case strings.Contains(why, "reset by peer"), strings.Contains(why, "EOF"):
		return "see whether it speaks TLS there, as rediss:// has it, or is ending"
	}
	return "start it, or correct its address"
}

// judgeFit tells what keeps a server from being a master, or will. The first four a proxy refuses by
// itself.
func judgeFit(m *Master, found *findings) {
	switch {
	case m.Info["redis_mode"] == "sentinel":
		found.of(m, Breaks, "sentinel", "it is a Sentinel, which keeps no keys", "it has no vote", "name the master's own address")
	case m.Info["cluster_enabled"] == "1":
		found.of(m, Breaks, "cluster", "it is a cluster node (cluster-enabled yes), which gives its keys away and is replaced by a replica that may lack some",
			"it has no vote", "start it with cluster-enabled no, as a master that stands for itself")
	case m.Info["role"] == "slave":
		found.of(m, Breaks, "replica", fmt.Sprintf("it is a replica of %s:%s, which holds what another server decides", m.Info["master_host"], m.Info["master_port"]),
			"it has no vote", "REPLICAOF NO ONE, and CONFIG REWRITE, or name another server")
	}
	judgeReplicas(m, found)
	if m.Info["loading"] == "1" {
		found.of(m, Breaks, "loading", "it is loading its data set", "it has no vote until it has", "wait")
	}
	if !atLeast(m.Info["redis_version"], 6, 2) && !forbids(m, "INFO") {
		found.of(m, Breaks, "old", fmt.Sprintf("its version is %s", m.Info["redis_version"]),
			"what proxies send it is not all understood before 6.2", "run Redis 6.2 or later, or Valkey")
	}
}

// judgeReplicas: a replica lacks what was granted last, so nobody may make a master of it.
func judgeReplicas(m *Master, found *findings) {
	replicas, _ := number(m.Info, "connected_slaves")
	switch {
	case m.Watchers > 0:
		found.of(m, Breaks, "failover", "Sentinels watch it, and replace it by a replica when they think it is gone",
			"a replica lacks the locks granted last: it is kept from voting when it takes over, and this master as long as it is a replica then",
			"SENTINEL REMOVE it at each Sentinel, and have it stand for itself, without replicas")
	case replicas > 0:
		found.of(m, Warning, "replicas", fmt.Sprintf("%d replicas are connected to it", replicas),
			"one that was made master in its place would lack the locks granted last; and each costs it time and memory",
			"REPLICAOF NO ONE at the replicas, or see to it that nothing makes a master of one by itself")
	}
}

// atLeast compares a version. One that cannot be read is not.
func atLeast(version string, major, minor int) bool {
	var a, b int
	if n, _ := fmt.Sscanf(version, "%d.%d", &a, &b); n != 2 {
		return false
	}
	return a > major || a == major && b >= minor
}
