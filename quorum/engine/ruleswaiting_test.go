package engine

var waiters = schedulesOf{simulation: "SimulatedWaiters", most: 200}

// Rules about who waits, and about who keeps what he has read.
var rulesOfWaiting = []rule{
	{"who waits for an element hears of what was put there at his proxy", "../../proxy/popline.go",
		"l.again, l.rest, l.vain = true, 0, 0 })",
		"_ = l })", true, 5, waiters},
	{"who waits for an element hears of what masters tell", "../../proxy/popline.go",
		"\t\tl.watch = true\n\t\tl.changed(now)\n",
		"\t\tl.watch = true\n", true, 0, named("TestBlockedClientHearsOfAnElement").in("../../proxy")},
	{"who waits for a lock hears that it was freed at his proxy", "../../proxy/room.go",
		"\t\tr.freed(resource{q.DB, q.Key}, now)\n\tcase q.Kind == quorum.Extend",
		"\tcase q.Kind == quorum.Extend", true, 5, waiters},
	{"a change at a proxy is told there before its answer", "../../proxy/tracking.go",
		"\tt.tellTaken(srv, all, \"\")\n\tfor _, key := range again {",
		"\tt.mu.Unlock()\n\tfor _, key := range again {", true, 3, waiters},
	{"a change that a master tells of is told", "../../proxy/tracking.go",
		"if all = t.take(key, k); len(all) > 0",
		"if len(k.by) > 0", true, 4, waiters},
	{"what a client is not told that he has got is put back", "../../proxy/putback.go",
		"l.waiting = append(l.waiting, p)",
		"_ = p", true, 7, waiters},
	{"a latch is that of all keys of a tag", "../journal/before.go",
		"return latchKeys + quorum.Tag(key)",
		"return latchKeys + key", true, 9, waiters},
}
