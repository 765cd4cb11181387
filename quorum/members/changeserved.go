package members

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// maxClientList bounds what a master tells of its connections.
const maxClientList = 64 << 20

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
			conn.gate.Longest = maxClientList
			answers, err := conn.gate.Ask([]string{"CLIENT", "LIST"})
			switch {
			case err != nil:
				return err
			case answers[0].Kind != quorum.BulkReply:
				r.tell("master " + s.master.Name + " does not tell whether proxies are connected to it: " + answers[0].Str)
			}
			for _, name := range master.ProxiesOf(answers[0].Str) {
				if !slices.Contains(found, name) {
					found = append(found, name)
				}
			}
			return nil
		})
		if err != nil {
			return of(s.master.Name, err)
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
