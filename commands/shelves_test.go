package commands

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

// shelf is one of several masters, as far as its keys go: a process has them in an
// order of its own.
type shelf struct {
	up      bool
	process int
	keys    map[string]bool
}

// shelves are masters that answer surveys and reads as the engine would.
type shelves struct {
	masters  []*shelf
	between  func() // is called before each request
	requests int
}

func newShelves(n int) *shelves {
	s := &shelves{between: func() {}}
	for i := range n {
		s.masters = append(s.masters, &shelf{up: true, process: 100 * i, keys: make(map[string]bool)})
	}
	return s
}

func (m *shelf) runID() string { return fmt.Sprint("process ", m.process) }

// restart makes another process of it, whose cursors can be told from the last one's.
func (m *shelf) restart() {
	for before := processOf(m.runID()); processOf(m.runID()) == before; {
		m.process++
	}
}

func (m *shelf) bucket(key string) int {
	h := fnv.New32a()
	h.Write([]byte(key + m.runID()))
	return int(h.Sum32()>>2) + 1
}

// scan goes on behind the bucket that the cursor names.
func (m *shelf) scan(args []string) quorum.ScriptReply {
	at, _ := strconv.Atoi(args[1])
	count, _ := strconv.Atoi(args[3])
	var names []string
	for name := range m.keys {
		if m.bucket(name) > at {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return m.bucket(a) - m.bucket(b) })
	next := 0
	if len(names) > count {
		names = names[:count]
		next = m.bucket(names[count-1])
	}
	var page []quorum.ScriptReply
	for _, name := range names {
		page = append(page, bulkOf(name))
	}
	return arrayOf(bulkOf(strconv.Itoa(next)), arrayOf(page...))
}

func (s *shelves) put(r quorum.Request) quorum.Result {
	s.between()
	s.requests++
	n := len(s.masters)
	result := quorum.Result{Decision: quorum.Won, Needed: n/2 + 1, Masters: n}
	if r.Kind == quorum.Read {
		holding, silent := 0, 0
		for _, m := range s.masters {
			switch {
			case !m.up:
				silent++
			case m.keys[r.Key]:
				holding++
			}
		}
		result.Exists, result.Type = holding >= result.Needed, "string"
		if !result.Exists && holding+silent >= result.Needed {
			result.Decision, result.Voted = quorum.Unavailable, n-silent
			if n-silent >= result.Needed {
				result.Decision = quorum.Split
			}
		}
		return result
	}
	result.Answers = make([]quorum.SurveyAnswer, n)
	if r.Only > n {
		result.Decision = quorum.Unavailable // nobody is asked
	} else if m := s.masters[r.Only-1]; m.up {
		result.Answers[r.Only-1] = quorum.SurveyAnswer{Given: true, Server: m.runID(), Reply: m.scan(r.Args)}
	} else {
		result.Decision = quorum.Unavailable
	}
	return result
}

func (s *shelves) carryOut(a Action) Reply {
	for a.Render != nil {
		results := make([]quorum.Result, len(a.Requests))
		for i, r := range a.Requests {
			results[i] = s.put(r)
		}
		var reply Reply
		if reply, a = a.Render.Render(results); reply.Kind != 0 {
			return reply
		}
	}
	return a.Reply
}

// scanAll scans until the cursor is 0 again, asking again after each error, and
// counts how often each key was listed. Each call is another client's, of one or the
// other proxy.
func (s *shelves) scanAll(t *testing.T, proxies []*Dialect, count int, failed func()) map[string]int {
	times := make(map[string]int)
	cursor := "0"
	for call := range 10_000 {
		session := proxies[call%len(proxies)].Session(int64(call))
		reply := s.carryOut(session.Do([]string{"SCAN", cursor, "COUNT", strconv.Itoa(count)}))
		if reply.Kind == ErrorReply {
			if !strings.HasPrefix(reply.Str, "NOQUORUM ") {
				t.Fatal(reply.Str)
			}
			failed()
			continue
		}
		for _, key := range reply.Elems[1].Elems {
			times[key.Str]++
		}
		if cursor = reply.Elems[0].Str; cursor == "0" {
			return times
		}
	}
	t.Fatal("the scan does not come to an end")
	return nil
}
