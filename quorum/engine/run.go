package engine

import (
	"strconv"

	"redlock-proxy/quorum/master"
)

// runArgv appends the call as a master gets it: by hash if the link knows that the
// master has the script.
func (o *op) runArgv(b []string, link *master.Link) []string {
	s, chunk := formOf(o.Script).runs()
	return o.runArgs(b, s, chunk, link.Knows(s.SHA))
}

func (o *op) runArgs(b []string, s *master.Script, chunk string, known bool) []string {
	if known {
		b = append(b, "EVALSHA", s.SHA)
	} else {
		b = append(b, "EVAL", s.Text)
	}
	b = append(b, strconv.Itoa(len(o.Keys)))
	b = append(b, o.Keys...)
	b = append(b, o.clock[0], o.clock[1])
	if chunk != "" {
		b = append(b, chunk)
	}
	b = append(b, o.Args...)
	if o.Script.Latches {
		b = append(b, o.holder, o.db.lease())
	}
	return b
}
