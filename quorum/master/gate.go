package master

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

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
	if user, password := m.credentials(); password != "" {
		if err := g.authenticate(user, password); err != nil {
			return who, err
		}
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
	id, info := answers[0], answers[1]
	settings, loaded := answers[2:2+len(durability)], answers[2+len(durability):]
	for _, a := range []decide.Answer{info, id} {
		if a.Failed("BUSY") {
			return who, g.unbusy(a.Str)
		}
		if a.Kind == quorum.FailureReply {
			return who, errors.New(a.Str)
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
	if err := MissingRight(loaded[len(m.Scripts):][:len(m.Rights)]); err != nil {
		return who, err
	}
	who.ClientID, who.Durable = id.Int, isDurable(settings)

	// What the old socket to this very process still held must not be carried
	// out after what comes next.
	if predecessor.RunID == who.RunID && predecessor.ClientID != 0 {
		killed, err := g.Ask([]string{"CLIENT", "KILL", "ID", strconv.FormatInt(predecessor.ClientID, 10)})
		if err != nil {
			return who, err
		}
		if killed[0].Kind != quorum.IntegerReply {
			return who, fmt.Errorf("CLIENT KILL answered %q", killed[0].Str)
		}
	}
	return who, nil
}

// MissingRight tells that the master does not carry out one of the rights, by its answers. One whose memory
// is full takes nothing new, and may vote on all else.
func MissingRight(answers []decide.Answer) error {
	for _, a := range answers {
		if a.RefusesToWrite() || a.Forbidden() {
			return Trouble(a.Str)
		}
	}
	return nil
}

// readInfo takes from INFO who the server is, and refuses one that is no
// master or not ready to be asked.
func readInfo(text string) (who marker.Identity, err error) {
	info := make(map[string]string)
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r"), ":"); ok {
			info[name] = value
		}
	}
	who.RunID, who.Version = info["run_id"], info["redis_version"]
	switch {
	case who.RunID == "":
		return who, errors.New("INFO names no run_id")
	case info["loading"] == "1":
		return who, errors.New("it is loading its data set")
	}
	if err := unfit(info); err != nil {
		return who, err
	}
	who.Replicas, _ = strconv.Atoi(info["connected_slaves"])
	if who.Evicted, err = strconv.Atoi(info["evicted_keys"]); err != nil {
		who.Evicted = marker.NotTold
	}
	who.Replication, who.Continued = info["master_replid"], strings.Trim(info["master_replid2"], "0") != ""
	who.Anew = info["aof_rewrite_in_progress"] == "1" || info["aof_rewrite_scheduled"] == "1"
	rewrites, told := info["aof_rewrites"]
	if !told {
		rewrites = info["total_forks"] // before 7.0, where snapshots count as well
	}
	who.Rewrites, _ = strconv.Atoi(rewrites)
	major, _, _ := strings.Cut(who.Version, ".")
	n, _ := strconv.Atoi(major)
	who.Seven = n >= 7
	return who, nil
}

// durability is what must be set for every write to be on disk before it is
// answered.
var durability = [][2]string{{"appendonly", "yes"}, {"appendfsync", "always"}, {"no-appendfsync-on-rewrite", "no"}}

// isDurable reads what CONFIG GET said of each of them. A master that will not tell
// is not.
func isDurable(settings []decide.Answer) bool {
	for i, a := range settings {
		if len(a.Elems) != 2 || a.Elems[1].Str != durability[i][1] {
			return false
		}
	}
	return true
}

// TimeOf reads the reply to TIME.
func TimeOf(a decide.Answer) (time.Time, bool) {
	if len(a.Elems) != 2 {
		return time.Time{}, false
	}
	s, err1 := strconv.ParseInt(a.Elems[0].Str, 10, 64)
	us, err2 := strconv.ParseInt(a.Elems[1].Str, 10, 64)
	if err1 != nil || err2 != nil || s <= 0 || us < 0 || us >= 1e6 {
		return time.Time{}, false
	}
	return time.Unix(s, us*1000), true
}

// Gate is the conversation on the raw connection. It reads nothing that was
// not asked for, so that nothing is lost when rueidis takes over.
type Gate struct {
	conn net.Conn
	r    *bufio.Reader

	Longest int64 // string that is read, in bytes; 0 is maxGateBulk
	nils    bool  // a string may be missing
}

// NewGate is the conversation on a connection on which nothing has been said yet, or all of
// which was heard.
func NewGate(conn net.Conn) *Gate {
	return &Gate{conn: conn, r: bufio.NewReaderSize(conn, 4096), nils: true}
}

// Meet connects to the master, and stays at the gate: for somebody who asks it a few things.
// The conversation is to be closed.
func (m *Master) Meet(ctx context.Context) (*Gate, marker.Identity, error) {
	conn, err := m.connect(ctx)
	if err != nil {
		return nil, marker.Identity{}, fmt.Errorf("it cannot be reached: %w", err)
	}
	secured, err := m.secure(conn)
	if err != nil {
		conn.Close()
		return nil, marker.Identity{}, fmt.Errorf("it cannot be used: %w", err)
	}
	who, err := m.identify(secured, marker.Identity{})
	if err != nil {
		conn.Close()
		return nil, marker.Identity{}, fmt.Errorf("it cannot be used: %w", err)
	}
	return NewGate(secured), who, nil
}

// Close ends the connection.
func (g *Gate) Close() { g.conn.Close() }

func (g *Gate) authenticate(user, password string) error {
	call := []string{"AUTH", password}
	if user != "" {
		call = []string{"AUTH", user, password}
	}
	answers, err := g.Ask(call)
	if err != nil {
		return err
	}
	if answers[0].Kind == quorum.FailureReply {
		return errors.New(answers[0].Str)
	}
	return nil
}

// Ask sends the calls at once and reads one answer for each.
func (g *Gate) Ask(calls ...[]string) ([]decide.Answer, error) {
	if err := g.send(calls...); err != nil {
		return nil, err
	}
	answers := make([]decide.Answer, len(calls))
	for i := range answers {
		a, err := g.read(3)
		if err != nil {
			return nil, err
		}
		answers[i] = a
	}
	if g.r.Buffered() > 0 {
		return nil, errSurplus
	}
	return answers, nil
}

func (g *Gate) send(calls ...[]string) error {
	var b []byte
	for _, call := range calls {
		b = fmt.Appendf(b, "*%d\r\n", len(call))
		for _, arg := range call {
			b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(arg), arg)
		}
	}
	_, err := g.conn.Write(b)
	return err
}

// maxGateBulk bounds a string that a server sends before it is known: INFO is
// the longest.
const maxGateBulk = 1 << 20

// read reads one RESP2 value, arrays nested up to depth.
func (g *Gate) read(depth int) (decide.Answer, error) {
	line, err := g.r.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, bufio.ErrBufferFull) {
			err = ErrGarbage
		}
		return decide.Answer{}, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return decide.Answer{}, ErrGarbage
	}
	text := string(line[1 : len(line)-2])
	switch line[0] {
	case '+':
		return decide.Answer{Kind: quorum.BulkReply, Str: text}, nil
	case '-':
		return decide.Failure(text), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return decide.Answer{}, ErrGarbage
	}
	switch {
	case line[0] == ':':
		return decide.Answer{Kind: quorum.IntegerReply, Int: n}, nil
	case line[0] == '$' && n == -1 && g.nils:
		return decide.Answer{Kind: quorum.NilReply}, nil
	case line[0] == '$' && n >= 0 && n <= max(g.Longest, maxGateBulk):
		b := make([]byte, n+2)
		if _, err := io.ReadFull(g.r, b); err != nil {
			return decide.Answer{}, err
		}
		return decide.Answer{Kind: quorum.BulkReply, Str: string(b[:n])}, nil
	case line[0] == '*' && n >= 0 && n <= decide.MaxElems && depth > 0:
		a := decide.Answer{Elems: make([]decide.Answer, n)}
		for i := range a.Elems {
			if a.Elems[i], err = g.read(depth - 1); err != nil {
				return decide.Answer{}, err
			}
		}
		return a, nil
	}
	return decide.Answer{}, ErrGarbage
}
