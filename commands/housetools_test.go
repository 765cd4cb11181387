package commands

// toolEffect answers what tools ask about the server itself, of which there is nothing to tell.
func toolEffect(effect Effect) (reply Reply, known bool) {
	switch e := effect.(type) {
	case SlowlogGetEffect, LatencyLatestEffect, LatencyHistoryEffect:
		return Array(), true
	case LatencyDoctorEffect:
		return Verbatim("latency-monitor-threshold"), true
	case LatencyHistogramEffect:
		var pairs []Reply
		for _, c := range e.Commands {
			pairs = append(pairs, Bulk(c.Name), Map(Bulk("calls"), Integer(1), Bulk("histogram_usec"), Map(Integer(1), Integer(1))))
		}
		return Map(pairs...), true
	case SlowlogLenEffect, LatencyResetEffect, ClientUnblockEffect:
		return Integer(0), true
	case MemoryStatsEffect:
		return Map(Bulk("total.allocated"), Integer(1)), true
	case MemoryDoctorEffect:
		return Verbatim("Nothing is wrong"), true
	case MemoryPurgeEffect, MonitorEffect, SlowlogResetEffect, ConfigSetEffect, ConfigRewriteEffect, ConfigResetStatEffect:
		return OK, true
	}
	return Reply{}, false
}
