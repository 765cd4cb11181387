package engine

import (
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
	"redlock-proxy/quorum/journal"
	"redlock-proxy/quorum/master"
)

// unbind carries out what is bound as far as that it tells whether the master leaves it,
// with what it then answers, and else which command that is about.
func (m *fakeMaster) unbind(args []string) (rest []string, reply string) {
	if len(args) < 2 || !strings.HasPrefix(args[0], "EVAL") {
		return args, ""
	}
	rest = slices.Clone(args)
	pop := func() string {
		last := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		return last
	}
	count := func() int {
		n, _ := strconv.Atoi(pop())
		return n
	}
	for from, to := range map[*master.Script]*master.Script{boundWriteScript: writeScript, boundExpireIfScript: expireIfScript} {
		if args[1] == from.SHA {
			rest[1] = to.SHA
			if m.scripts[args[1]] == nil {
				return rest, "-NOSCRIPT No matching script. Please use EVAL.\r\n"
			}
		}
	}
	run := false
	for c := range effects {
		switch s := bound(journal.FormOf(c).Own()); args[1] {
		case s.SHA:
			if m.scripts[s.SHA] == nil {
				return args, ""
			}
			fallthrough
		case s.Text:
			m.scripts[s.SHA] = s
			run, rest[0], rest[1] = true, "EVAL", journal.FormOf(c).Own().Text
		}
	}
	switch rest[1] {
	case args[1]:
		return args, ""
	}
	all := true
	for range count() {
		d, _ := m.dump(pop())
		held := d == ""
		for range count() {
			held = dump.SameFootprint(pop(), dump.Footprint(d)) || held
		}
		all = all && held
	}
	switch {
	case all:
		return rest, ""
	case run:
		return nil, array(integer(decide.FlagBusy), integer(-1), bulk("_"), integer(0))
	}
	return nil, integer(decide.SaysOther)
}
