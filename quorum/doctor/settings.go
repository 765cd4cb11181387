package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlock-proxy/quorum"
)

// connectionsOfAProxy is how many a proxy may have to a master at once: one for each database, as
// many while it looks at those that are not in use, the one on which it hears other proxies, and
// those of catch-ups.
const connectionsOfAProxy = 2*quorum.Databases + 4

// judgeSettings tells of settings by which a master that can vote does not.
func judgeSettings(facts *Facts, m *Master, found *findings) {
	if s, _ := number(m.Settings, "timeout"); s > 0 && time.Duration(s)*time.Second <= 2*facts.ProbeInterval {
		found.of(m, Breaks, "timeout", fmt.Sprintf("it closes connections that are idle for %d s (timeout), and a proxy looks at it every %v", s, facts.ProbeInterval),
			"each time its connection is lost it has no vote for a while", "CONFIG SET timeout 0, CONFIG REWRITE")
	}
	if n, _ := number(m.Settings, "min-replicas-to-write"); n > 0 {
		severity, means := Warning, "it refuses every write as soon as one of these replicas is away: it has no vote then"
		if has, _ := number(m.Info, "connected_slaves"); has < n {
			severity, means = Breaks, "it refuses every write: it has no vote"
		}
		found.of(m, severity, "min-replicas", fmt.Sprintf("it writes only while %d replicas are connected (min-replicas-to-write)", n), means,
			"CONFIG SET min-replicas-to-write 0, CONFIG REWRITE")
	}
	limit, known := number(m.Settings, "maxclients")
	has, _ := number(m.Info, "connected_clients")
	if known && limit-has < connectionsOfAProxy {
		found.of(m, Breaks, "maxclients", fmt.Sprintf("%d of the %d clients that it takes (maxclients) are there, and one proxy may need %d connections", has, limit, connectionsOfAProxy),
			"a proxy that cannot connect has no vote of it", fmt.Sprintf("CONFIG SET maxclients %d, CONFIG REWRITE, and raise its limit on open files", max(10000, has+1000)))
	}
	if text := m.Calls["SET"]; strings.HasPrefix(text, "MISCONF ") {
		found.of(m, Breaks, "misconf", "it refuses every write, as it cannot save what it holds to disk: "+text, "it has no vote",
			"make room on its disk or let it write there; what it does not keep on disk anyway: CONFIG SET save ''")
	}
	if open(m) {
		found.of(m, Warning, "open", "other machines can reach it, and it wants no password (protected-mode no)",
			"whoever reaches it can delete and set locks past all proxies", "give its users a password and name that in master-password-file, or bind it to an address that only proxies reach")
	}
}

// open tells that others than its own machine can use a master without a password.
func open(m *Master) bool {
	bind, told := m.Settings["bind"]
	if m.Password || !told || m.Settings["protected-mode"] != "no" {
		return false
	}
	addresses := strings.Fields(bind)
	return len(addresses) == 0 || slices.ContainsFunc(addresses, func(a string) bool {
		a = strings.TrimPrefix(a, "-")
		return !strings.HasPrefix(a, "127.") && a != "::1" && a != "localhost"
	})
}
