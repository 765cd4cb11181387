package master

import (
	"fmt"
	"net"
	"strconv"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/marker"
)

// Why a master is identified per connection, and not once a second:
//
//	1: A wins k on masters 1 2 3
//	2: master 3 crashes and comes back blank within the second
//	3: B asks for k; 1 and 2 refuse, 3 grants, and so do 4 and 5
//
// B has a quorum too. So a connection's first act is to say who is there.

// identify speaks to the server on a raw connection, before anything else uses
// it: it authenticates, asks who is there, loads our scripts, and ends the
// predecessor of this connection. conn has a deadline already.
//
// A connection that may not be named is as good.
func (m *Master) identify(conn net.Conn, predecessor marker.Identity) (who marker.Identity, err error) {
	g := NewGate(conn)
	if err := g.authenticate(m.credentials()); err != nil {
		return who, err
	}
	calls := [][]string{{"CLIENT", "ID"}, {"INFO"}}
	for _, name := range durability {
		calls = append(calls, []string{"CONFIG", "GET", name[0]})
	}
	for _, s := range m.Scripts {
		calls = append(calls, []string{"SCRIPT", "LOAD", s.Text})
	}
	calls = append(calls, m.Rights...)
	if m.Client != "" {
		calls = append(calls, []string{"CLIENT", "SETNAME", m.Client})
	}
	answers, err := g.Ask(calls...)
	if err != nil {
		return who, err
	}
	id, info, rest := answers[0], answers[1], answers[2:]
	settings, rest := rest[:len(durability)], rest[len(durability):]
	loaded, rights := rest[:len(m.Scripts)], rest[len(m.Scripts):][:len(m.Rights)]
	for _, a := range []decide.Answer{info, id} {
		if a.Failed("BUSY") {
			return who, g.unbusy(a.Str)
		}
		if err := a.Err(); err != nil {
			return who, err
		}
	}
	for i, s := range m.Scripts {
		if loaded[i].Str != s.SHA {
			return who, fmt.Errorf("SCRIPT LOAD answered %q", loaded[i].Str)
		}
	}
	if id.Kind != quorum.IntegerReply || info.Kind != quorum.BulkReply {
		return who, ErrGarbage
	}
	who, err = readInfo(info.Str)
	if err != nil {
		return who, err
	}
	if err := MissingRight(rights); err != nil {
		return who, err
	}
	who.ClientID, who.Durable = id.Int, isDurable(settings)
	return who, g.endPredecessor(predecessor, who)
}

// endPredecessor ends the connection before this one, if it was to the same process: what the
// old socket still held must not be carried out after what comes next.
func (g *Gate) endPredecessor(predecessor, who marker.Identity) error {
	if predecessor.RunID == who.RunID && predecessor.ClientID != 0 {
		killed, err := g.Ask([]string{"CLIENT", "KILL", "ID", strconv.FormatInt(predecessor.ClientID, 10)})
		if err != nil {
			return err
		}
		if killed[0].Kind != quorum.IntegerReply {
			return fmt.Errorf("CLIENT KILL answered %q", killed[0].Str)
		}
	}
	return nil
}

// MissingRight tells that the master does not carry out one of the Rights, by its answers to
// them; it is a Trouble, or nil. A master whose memory is full takes nothing new, and may vote on
// all else.
func MissingRight(answers []decide.Answer) error {
	for _, a := range answers {
		if a.RefusesToWrite() || a.Forbidden() {
			return Trouble(a.Str)
		}
	}
	return nil
}
