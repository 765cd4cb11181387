package main

import (
	"fmt"
	"syscall"
)

// reservedFiles is what the process needs besides clients and masters: logs,
// listeners, the watchdog's connection, Go's own. Redis reserves as many.
const reservedFiles = 32

// filesPerMaster: its connection, the one that is to follow it, the one on which other proxies
// are heard, and as many again at the other end if the master is embedded.
const filesPerMaster = 6

// openFilesLimit is how many files this process may have open. Go has raised
// it as far as it may be raised.
func openFilesLimit() (uint64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	return uint64(limit.Cur), nil
}

// reservedFor is what is kept from clients beside so many masters.
func reservedFor(masters int) int { return reservedFiles + filesPerMaster*masters }

// fitClients lowers max-clients to what the limit on open files has room for,
// and says so; warning is "" if there is room.
func fitClients(maxClients, masters int, limit uint64) (fit int, warning string) {
	reserved := reservedFor(masters)
	if uint64(maxClients+reserved) <= limit {
		return maxClients, ""
	}
	fit = max(int(limit)-reserved, 1)
	return fit, fmt.Sprintf("max-clients of %d needs at least %d open files, and this process may have %d: it is reduced to %d; if more are needed, increase ulimit -n (LimitNOFILE in the unit file)",
		maxClients, maxClients+reserved, limit, fit)
}
