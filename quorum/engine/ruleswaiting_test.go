package engine

var waiters = schedulesOf{simulation: "SimulatedWaiters", most: 200}

// Rules about who waits, and about who keeps what he has read.
var rulesOfWaiting = []rule{
	{"who waits for an element hears of what was put there at his proxy", "../../proxy/popline.go",
		"l.again, l.rest, l.vain = true, 0, 0 })",
		"_ = l })", true, 5, waiters},
	{"who waits for an element hears of what masters tell", "../../proxy/popline.go",
		"\t\tl.watch = true\n\t\tl.changed(now)\n",
		"\t\tl.watch = true\n", true, 1, waiters},
	{"the next in a line hears that there is more", "../../proxy/blocked.go",
		"l.vain, l.again = 0, l.again || more",
		"l.vain, _ = 0, more", true, 5, waiters},
	{"a change at a proxy is told there before its answer", "../../proxy/tracking.go",
		"\tt.tellTaken(srv, all, \"\")\n\tfor _, key := range again {",
		"\tt.mu.Unlock()\n\tfor _, key := range again {", true, 3, waiters},
	{"a change that a master tells of is told", "../../proxy/tracking.go",
		"if all = t.take(key, k); len(all) > 0",
		"if len(k.by) > 0", true, 4, waiters},
}
