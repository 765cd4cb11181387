package master

import (
	"fmt"
	"slices"
	"strings"
)

// Proxies name their connections, so that whoever looks after a master sees whose they
// are, and a change of the set sees whether proxies are there that have not been stopped.

// clientPrefix is what the names begin with.
const clientPrefix = "redlock-proxy:"

// ClientName is how masters know the connections of a proxy, which is this process of a host.
func ClientName(host string, pid int) string {
	name := []byte(fmt.Sprintf("%s%s:%d", clientPrefix, host, pid))
	for i, c := range name {
		if c <= ' ' || c > '~' {
			name[i] = '_'
		}
	}
	return string(name)
}

// ProxiesOf are the names of proxies in what CLIENT LIST told, each once, sorted.
func ProxiesOf(list string) (names []string) {
	for field := range strings.FieldsSeq(list) {
		name, named := strings.CutPrefix(field, "name=")
		if named && strings.HasPrefix(name, clientPrefix) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
