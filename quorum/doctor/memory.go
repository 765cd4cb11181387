package doctor

import "fmt"

// manyKeys is how many keys make a catch-up, which reads them all from other masters, last.
const manyKeys = 1_000_000

// judgeMemory tells what becomes of locks when a master is full.
func judgeMemory(m *Master, found *findings) {
	policy := m.Info["maxmemory_policy"]
	limit, _ := number(m.Info, "maxmemory")
	evicts := policy != "" && policy != "noeviction"
	const cure = "CONFIG SET maxmemory-policy noeviction, CONFIG REWRITE"
	switch {
	case evicts && limit > 0:
		found.of(m, Breaks, "evicts", fmt.Sprintf("it evicts keys when %s are full (maxmemory-policy %s)", bytes(limit), policy),
			"a lock can vanish while somebody holds it; so it has no vote", cure)
	case evicts:
		found.of(m, Warning, "evicts", fmt.Sprintf("it would evict keys if maxmemory was set (maxmemory-policy %s)", policy),
			"from then on a lock could vanish while somebody holds it, and it would have no vote", cure)
	}
	if used, known := number(m.Info, "used_memory"); known && limit > 0 && used >= limit/10*8 {
		severity, means := Warning, "when it is full, it takes no new lock"
		if used >= limit {
			severity, means = Breaks, "it takes no new lock"
		}
		found.of(m, severity, "full", fmt.Sprintf("%d %% of its maxmemory of %s are used", used*100/limit, bytes(limit)), means,
			"CONFIG SET maxmemory to more, or find out what fills it: MEMORY STATS, redis-cli --bigkeys")
	}
	if keys := keysOf(m); keys > manyKeys {
		found.of(m, Warning, "keys", fmt.Sprintf("it holds %d keys", keys),
			"a master that has lost its memory must be given all of them before it votes again", "give other data a Redis of its own")
	}
}

// keysOf counts the keys of all databases.
func keysOf(m *Master) (keys int64) {
	for db := range 16 {
		var n int64
		if got, _ := fmt.Sscanf(m.Info[fmt.Sprintf("db%d", db)], "keys=%d,", &n); got == 1 {
			keys += n
		}
	}
	return keys
}
