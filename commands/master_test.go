package commands

import (
	"strconv"
	"time"

	"redlock-proxy/quorum"
)

// master is one perfect master that carries out requests on a map, by a clock of
// its own. It knows nothing of votes: whatever it says is what a quorum decided.
type master struct {
	now  int64 // Unix milliseconds
	keys map[string]entry
}

type entry struct {
	kind  string // as TYPE says it
	value string
	end   int64 // Unix milliseconds, 0 for never
}

func newMaster() *master {
	return &master{now: 1795219200000, keys: make(map[string]entry)}
}

func (m *master) wait(d time.Duration) { m.now += d.Milliseconds() }

// find gives what is alive at a key.
func (m *master) find(key string) (entry, bool) {
	e, ok := m.keys[key]
	if ok && e.end != 0 && e.end <= m.now {
		delete(m.keys, key)
		return entry{}, false
	}
	return e, ok
}

// end is when a request's expiry is, 0 for never.
func (m *master) end(r quorum.Request) int64 {
	if r.At != 0 {
		return r.At
	}
	if r.Far != 0 {
		return m.now + r.Far
	}
	if r.TTL == 0 {
		return 0
	}
	return m.now + r.TTL.Milliseconds()
}

func (m *master) put(r quorum.Request) quorum.Result {
	result := m.carryOut(r)
	result.Voted, result.Needed, result.Masters = 1, 1, 1
	return result
}

func (m *master) carryOut(r quorum.Request) quorum.Result {
	e, ok := m.find(r.Key)
	switch r.Kind {
	case quorum.Run:
		// A script is carried out by real masters alone.
		return quorum.Result{Decision: quorum.Contended, Script: &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.NilReply}}}
	case quorum.Survey:
		return m.survey(r)
	case quorum.Acquire:
		if ok {
			return quorum.Result{Decision: quorum.Contended, Exists: true, Type: e.kind, Value: e.value}
		}
		if r.At != 0 && r.At <= m.now {
			return failed("ERR invalid expire time in 'set' command")
		}
		m.keys[r.Key] = entry{kind: "string", value: r.Token, end: m.end(r)}
		return quorum.Result{Decision: quorum.Won}
	case quorum.Release, quorum.Extend:
		return m.compare(r, e, ok)
	case quorum.Remove:
		delete(m.keys, r.Key)
		return said(ok)
	case quorum.Read:
		if r.ValueOnly {
			return valueOnly(e, ok)
		}
		result := quorum.Result{Decision: quorum.Won, Exists: ok, Type: e.kind, Value: e.value, TTL: quorum.NoTTL}
		if e.end != 0 {
			if left := e.end - m.now; left > longestTTL.Milliseconds() {
				result.Far = left
			} else {
				result.TTL = time.Duration(left) * time.Millisecond
			}
		}
		return result
	}
	return m.write(r, e, ok)
}

// valueOnly leaves out what was not asked for.
func valueOnly(e entry, ok bool) quorum.Result {
	if ok && e.kind != "string" {
		return failed("WRONGTYPE Operation against a key holding the wrong kind of value")
	}
	return quorum.Result{Decision: quorum.Won, Exists: ok, Value: e.value}
}

func (m *master) compare(r quorum.Request, e entry, ok bool) quorum.Result {
	switch {
	case ok && e.kind != "string":
		return failed("WRONGTYPE Operation against a key holding the wrong kind of value")
	case !ok || e.value != r.Token:
		return quorum.Result{Decision: quorum.Contended, Absent: !ok}
	case r.Kind == quorum.Release:
		delete(m.keys, r.Key)
	default:
		e.end = m.end(r)
		m.keys[r.Key] = e
	}
	return quorum.Result{Decision: quorum.Won}
}

func (m *master) write(r quorum.Request, e entry, ok bool) quorum.Result {
	switch r.Args[0] {
	case "PERSIST":
		had := e.end != 0
		if ok {
			e.end = 0
			m.keys[r.Key] = e
		}
		return replied(had)
	case "SET":
		return m.overwrite(r, e, ok)
	}
	end := m.end(r)
	if r.TTLArg == 0 {
		n, err := strconv.ParseInt(r.Args[2], 10, 64)
		if err != nil {
			panic(err)
		}
		end = m.now + n
		if r.Args[0] == "PEXPIREAT" {
			end = n
		}
	}
	for _, flag := range r.Args[3:] {
		never := e.end == 0
		if flag == "NX" && !never || flag == "XX" && never ||
			flag == "GT" && (never || end <= e.end) || flag == "LT" && !never && end >= e.end {
			return replied(false)
		}
	}
	switch {
	case ok && end <= m.now:
		delete(m.keys, r.Key)
	case ok:
		e.end = end
		m.keys[r.Key] = e
	}
	return replied(ok)
}

// overwrite expects the words in the order in which the dialect has them.
func (m *master) overwrite(r quorum.Request, e entry, ok bool) quorum.Result {
	next := entry{kind: "string", value: r.Args[2], end: m.end(r)}
	var get, xx bool
	for i, word := range r.Args[3:] {
		switch word {
		case "XX":
			xx = true
		case "GET":
			get = true
		case "KEEPTTL":
			next.end = e.end
		case "PX":
			if r.TTLArg != i+4 {
				panic("PX is not followed by the ttl")
			}
		}
	}
	switch {
	case get && ok && e.kind != "string":
		return failed("WRONGTYPE Operation against a key holding the wrong kind of value")
	case r.At != 0 && r.At <= m.now:
		return failed("ERR invalid expire time in 'set' command")
	case ok || !xx:
		m.keys[r.Key] = next
	}
	switch {
	case get && ok:
		return quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.BulkReply, Str: e.value}}
	case get || xx && !ok:
		return quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.NilReply}}
	}
	return quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}}
}

func said(yes bool) quorum.Result {
	if yes {
		return quorum.Result{Decision: quorum.Won}
	}
	return quorum.Result{Decision: quorum.Contended}
}

func replied(yes bool) quorum.Result {
	n := int64(0)
	if yes {
		n = 1
	}
	return quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: n}}
}

func failed(text string) quorum.Result {
	return quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.FailureReply, Str: text}}
}
