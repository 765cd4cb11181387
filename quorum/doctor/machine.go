package doctor

import "fmt"

// leastBacklog is Redis's own tcp-backlog.
const leastBacklog = 511

// judgeMachine looks at what the kernel allows here.
func judgeMachine(m *Machine, found *findings) {
	if m.FilesAllowed > 0 && m.FilesNeeded > m.FilesAllowed {
		found.add(Warning, "files", nil, fmt.Sprintf("a process may have %d files open here, and max-clients of %d needs %d", m.FilesAllowed, m.MaxClients, m.FilesNeeded),
			"the proxy takes fewer clients than max-clients", "raise ulimit -n (LimitNOFILE in the unit file), or lower max-clients")
	}
	if m.Backlog > 0 && m.Backlog < leastBacklog && m.Backlog < m.MaxClients {
		found.add(Warning, "backlog", nil, fmt.Sprintf("the kernel holds %d connections at most that are not accepted yet (net.core.somaxconn)", m.Backlog),
			"when all clients come back at once, some are turned away", "sysctl net.core.somaxconn=4096")
	}
}
