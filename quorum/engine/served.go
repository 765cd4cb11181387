package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"redlock-proxy/quorum"
)

// Proxies name their connections, so that whoever looks after a master sees whose they
// are, and a change of the set sees whether proxies are there that have not been stopped.

// clientPrefix is what the names begin with.
const clientPrefix = "redlock-proxy:"

// maxClientList bounds what a master tells of its connections.
const maxClientList = 64 << 20

// ClientName is how masters know a proxy's connections.
func ClientName(host string, pid int) string {
	name := []byte(fmt.Sprintf("%s%s:%d", clientPrefix, host, pid))
	for i, c := range name {
		if c <= ' ' || c > '~' {
			name[i] = '_'
		}
	}
	return string(name)
}

// proxiesOf finds proxies in what CLIENT LIST told.
func proxiesOf(list string) (names []string) {
	for field := range strings.FieldsSeq(list) {
		name, named := strings.CutPrefix(field, "name=")
		if named && strings.HasPrefix(name, clientPrefix) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// unserved is an error while proxies are connected to masters of the old set, unless the
// change is to go on even so. A master that does not tell is no reason to stop: proxies
// that are left find no quorum any more.
func (r *changeRun) unserved(ctx context.Context, evenSo bool) error {
	var found []string
	for _, s := range r.servers {
		if !s.old {
			continue
		}
		err := r.with(ctx, s, func(conn *member) error {
			conn.gate.longest = maxClientList
			answers, err := conn.gate.ask([]string{"CLIENT", "LIST"})
			switch {
			case err != nil:
				return err
			case answers[0].kind != quorum.BulkReply:
				r.tell("master " + s.master.Name + " does not tell whether proxies are connected to it: " + answers[0].str)
			}
			for _, name := range proxiesOf(answers[0].str) {
				if !slices.Contains(found, name) {
					found = append(found, name)
				}
			}
			return nil
		})
		if err != nil {
			return of(s.master, err)
		}
	}
	text := "proxies are connected to the old set's masters: " + strings.Join(found, " ")
	switch {
	case len(found) == 0:
		return nil
	case evenSo:
		r.tell(text + "; they grant nothing more from now on")
		return nil
	}
	return fmt.Errorf("%s; stop them, or give the order with --even-so: they grant nothing more then", text)
}
