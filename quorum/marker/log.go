package marker

import (
	"maps"
)

// NoLog is told of a master that writes none that would hold all.
const NoLog = "-"

// DiskLog is the name of the log that the marker is in, NoLog if its master writes none.
func (m Marker) DiskLog() string {
	switch {
	case !m.Durable:
		return NoLog
	case m.Log != "":
		return m.Log
	}
	return m.RunID
}

// MergeLogs adds to logs that were told of masters, by their names, what else is told of them. One of
// which two different logs are told has NoLog: neither may be whole. It changes neither map.
func MergeLogs(logs, more map[string]string) map[string]string {
	both := maps.Clone(more)
	for name, log := range logs {
		if told := both[name]; told != "" && told != log {
			log = NoLog
		}
		if both == nil {
			both = make(map[string]string)
		}
		both[name] = log
	}
	return both
}
