package engine

import (
	"redlock-proxy/quorum/marker"
)

// warnOfReplicas says once what becomes of locks if a replica takes the master's
// place.
func (c *connector) warnOfReplicas(who marker.Identity) {
	if who.Replicas == 0 || c.warned {
		return
	}
	c.warned = true
	c.log.Warn("master has replicas: if one of them takes its place, by Sentinel or a provider's automatic failover, the locks that were not copied yet are lost, and it is quarantined; switch automatic failover off",
		"replicas", who.Replicas)
}
