package engine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/quorum"
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
// name, unless it is empty, is what the server is to call the connection. One that may
// not be named is as good.
func identify(conn net.Conn, user, password, name string, predecessor marker.Identity) (who marker.Identity, err error) {
	g := gate{w: conn, r: bufio.NewReaderSize(conn, 4096), nils: true}
	if password != "" {
		if err := g.authenticate(user, password); err != nil {
			return who, err
		}
	}
	calls := [][]string{{"CLIENT", "ID"}, {"INFO"}}
	for _, name := range durability {
		calls = append(calls, []string{"CONFIG", "GET", name[0]})
	}
	for _, s := range scripts {
		calls = append(calls, []string{"SCRIPT", "LOAD", s.text})
	}
	calls = append(calls, rights...)
	if name != "" {
		calls = append(calls, []string{"CLIENT", "SETNAME", name})
	}
	answers, err := g.ask(calls...)
	if err != nil {
		return who, err
	}
	id, info := answers[0], answers[1]
	settings, loaded := answers[2:2+len(durability)], answers[2+len(durability):]
	for _, a := range []answer{info, id} {
		if a.failed("BUSY") {
			return who, g.unbusy(a.str)
		}
		if a.kind == quorum.FailureReply {
			return who, errors.New(a.str)
		}
	}
	for i, s := range scripts {
		if loaded[i].str != s.sha {
			return who, fmt.Errorf("SCRIPT LOAD answered %q", loaded[i].str)
		}
	}
	if id.kind != quorum.IntegerReply || info.kind != quorum.BulkReply {
		return who, errGarbage
	}
	who, err = readInfo(info.str)
	if err != nil {
		return who, err
	}
	if err := lacks(loaded[len(scripts):][:len(rights)]); err != nil {
		return who, err
	}
	who.ClientID, who.Durable = id.int, isDurable(settings)

	// What the old socket to this very process still held must not be carried
	// out after what comes next.
	if predecessor.RunID == who.RunID && predecessor.ClientID != 0 {
		killed, err := g.ask([]string{"CLIENT", "KILL", "ID", strconv.FormatInt(predecessor.ClientID, 10)})
		if err != nil {
			return who, err
		}
		if killed[0].kind != quorum.IntegerReply {
			return who, fmt.Errorf("CLIENT KILL answered %q", killed[0].str)
		}
	}
	return who, nil
}

// A master may refuse releases, and what takes a lost acquire back: it cannot save its data
// set, or has too few replicas; or somebody takes a command from our user, or from all.
//
//	1: A holds k; master 3's disk is full; A releases k
//	2: master 3 writes again: it holds k, and counts as one that may vote
//
// So it is one that is down until it carries out what we need: what it missed is owed to it.

// neverThere is a key that nobody sets.
const neverThere = quorum.PrivateKeys + "never there}"

// rights are the commands that locks are given, told and taken back with, as calls that change
// nothing.
var rights = [][]string{
	{"PERSIST", neverThere}, {"PEXPIRE", neverThere, "1"}, {"DEL", neverThere}, {"EXISTS", neverThere},
	{"TYPE", neverThere}, {"PTTL", neverThere}, {"GETRANGE", neverThere, "0", "0"}, {"GET", neverThere},
	{"SET", neverThere, "", "XX"}, {"RESTORE", neverThere, "0", ""}, {"EVAL", "return 1", "0"}, {"EVALSHA", readScript.sha, "1", neverThere},
}

// lacks tells that the master does not carry out one of them, by its answers. One whose memory
// is full takes nothing new, and may vote on all else.
func lacks(answers []answer) error {
	for _, a := range answers {
		if a.refusesToWrite() || a.forbidden() {
			return errTrouble(a.str)
		}
	}
	return nil
}

// refusesToWrite tells that the master answers nothing but reads.
func (a answer) refusesToWrite() bool { return a.failed("MISCONF ") || a.failed("NOREPLICAS ") }

// forbidden tells that the master knows no such command, or that our user may not use it, for
// that key at least.
func (a answer) forbidden() bool { return a.failed("NOPERM ") || a.failed(unknownCommand) }

const unknownCommand = "ERR unknown command"

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
func isDurable(settings []answer) bool {
	for i, a := range settings {
		if len(a.elems) != 2 || a.elems[1].str != durability[i][1] {
			return false
		}
	}
	return true
}

// masterTime reads the reply to TIME.
func masterTime(a answer) (time.Time, bool) {
	if len(a.elems) != 2 {
		return time.Time{}, false
	}
	s, err1 := strconv.ParseInt(a.elems[0].str, 10, 64)
	us, err2 := strconv.ParseInt(a.elems[1].str, 10, 64)
	if err1 != nil || err2 != nil || s <= 0 || us < 0 || us >= 1e6 {
		return time.Time{}, false
	}
	return time.Unix(s, us*1000), true
}

// gate is the conversation on the raw connection. It reads nothing that was
// not asked for, so that nothing is lost when rueidis takes over.
type gate struct {
	w io.Writer
	r *bufio.Reader

	longest int64 // string that is read; 0 is maxGateBulk
	nils    bool  // a string may be missing
}

func (g *gate) authenticate(user, password string) error {
	call := []string{"AUTH", password}
	if user != "" {
		call = []string{"AUTH", user, password}
	}
	answers, err := g.ask(call)
	if err != nil {
		return err
	}
	if answers[0].kind == quorum.FailureReply {
		return errors.New(answers[0].str)
	}
	return nil
}

// ask sends the calls at once and reads one answer for each.
func (g *gate) ask(calls ...[]string) ([]answer, error) {
	if err := g.send(calls...); err != nil {
		return nil, err
	}
	answers := make([]answer, len(calls))
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

func (g *gate) send(calls ...[]string) error {
	var b []byte
	for _, call := range calls {
		b = fmt.Appendf(b, "*%d\r\n", len(call))
		for _, arg := range call {
			b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(arg), arg)
		}
	}
	_, err := g.w.Write(b)
	return err
}

// maxGateBulk bounds a string that a server sends before it is known: INFO is
// the longest.
const maxGateBulk = 1 << 20

// read reads one RESP2 value, arrays nested up to depth.
func (g *gate) read(depth int) (answer, error) {
	line, err := g.r.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, bufio.ErrBufferFull) {
			err = errGarbage
		}
		return answer{}, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return answer{}, errGarbage
	}
	text := string(line[1 : len(line)-2])
	switch line[0] {
	case '+':
		return answer{kind: quorum.BulkReply, str: text}, nil
	case '-':
		return failure(text), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return answer{}, errGarbage
	}
	switch {
	case line[0] == ':':
		return answer{kind: quorum.IntegerReply, int: n}, nil
	case line[0] == '$' && n == -1 && g.nils:
		return answer{kind: quorum.NilReply}, nil
	case line[0] == '$' && n >= 0 && n <= max(g.longest, maxGateBulk):
		b := make([]byte, n+2)
		if _, err := io.ReadFull(g.r, b); err != nil {
			return answer{}, err
		}
		return answer{kind: quorum.BulkReply, str: string(b[:n])}, nil
	case line[0] == '*' && n >= 0 && n <= maxReplyElems && depth > 0:
		a := answer{elems: make([]answer, n)}
		for i := range a.elems {
			if a.elems[i], err = g.read(depth - 1); err != nil {
				return answer{}, err
			}
		}
		return a, nil
	}
	return answer{}, errGarbage
}
