package proxy

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// elements is an engine that keeps lists, and sorted sets in the order of their scores, as one perfect master, a round trip away.
type elements struct {
	mu    sync.Mutex
	lists map[string][]string
	asked map[quorum.Kind]int
	mute  bool   // no quorum can be had
	wrong string // a key that is no list, and nothing can be moved to
	vain  bool   // who asks gets nothing, whatever there is
}

func newBlockingRig(t *testing.T, cfg Config) (*rig, *elements) {
	cfg.Commands = commands.Options{Users: "user default on nopass ~* &* +@all\n"}
	r := newRig(t, cfg)
	r.engine.stands(quorum.Status{Quorum: 2, Masters: make([]quorum.MasterStatus, 3)})
	e := &elements{lists: make(map[string][]string), asked: make(map[quorum.Kind]int)}
	r.engine.mu.Lock()
	r.engine.auto = func(_ *fakeEngine, a asked) {
		time.AfterFunc(roundTrip, func() { a.asker.Answer(e.carryOut(&a.request)).Flush() })
	}
	r.engine.mu.Unlock()
	return r, e
}

func bulk(s string) quorum.ScriptReply {
	return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.BulkReply, Str: s}}
}

func number(n int) quorum.ScriptReply {
	return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: int64(n)}}
}

func array(elems ...quorum.ScriptReply) quorum.ScriptReply {
	return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: elems}
}

var nothing = quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.NilReply}}

func (e *elements) carryOut(r *quorum.Request) (result quorum.Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked[r.Kind]++
	if e.mute {
		return quorum.Result{Decision: quorum.Unavailable, Needed: 2, Masters: 3}
	}
	result.Decision = quorum.Won
	if r.Kind == quorum.Read {
		result.Exists, result.Type, result.TTL = len(e.lists[r.Key]) > 0, "list", quorum.NoTTL
		return result
	}
	if r.Script.Reads { // who others wait before looks whether he may wait
		return quorum.Result{Decision: quorum.Contended, Script: &nothing}
	}
	reply, some := nothing, false
	if r.Args[0] == "LMOVE" && r.Args[2] == e.wrong && len(e.lists[r.Args[1]]) > 0 {
		failed := quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.FailureReply, Str: "WRONGTYPE no list"}}
		return quorum.Result{Decision: quorum.Contended, Script: &failed}
	}
	if !e.vain || r.Args[0] != "LMPOP" {
		reply, some = e.do(r.Args)
	}
	if !some {
		result.Decision = quorum.Contended
	} else if strings.Contains(r.Script.Text, "LLEN") {
		reply = array(reply, number(len(e.lists[r.Keys[0]])))
	}
	result.Script = &reply
	return result
}

// do is what masters do.
func (e *elements) do(words []string) (reply quorum.ScriptReply, some bool) {
	switch words[0] {
	case "LPUSH", "RPUSH", "lpush", "rpush":
		for _, v := range words[2:] {
			if e.lists[words[1]] = append(e.lists[words[1]], v); strings.ToUpper(words[0]) == "LPUSH" {
				l := e.lists[words[1]]
				e.lists[words[1]] = append([]string{v}, l[:len(l)-1]...)
			}
		}
		return number(len(e.lists[words[1]])), true
	case "LMPOP":
		n, _ := strconv.Atoi(words[1])
		for _, key := range words[2 : 2+n] {
			if v, there := e.pop(key, strings.ToUpper(words[2+n]) == "LEFT"); there {
				return array(bulk(key), array(bulk(v))), true
			}
		}
		return nothing, false
	case "LMOVE":
		v, there := e.pop(words[1], strings.ToUpper(words[3]) == "LEFT")
		if !there {
			return nothing, false
		}
		e.lists[words[2]] = append(e.lists[words[2]], v)
		return bulk(v), true
	}
	panic(fmt.Sprint(words))
}

func (e *elements) pop(key string, left bool) (v string, there bool) {
	l := e.lists[key]
	switch {
	case len(l) == 0:
		return "", false
	case left:
		v, e.lists[key] = l[0], l[1:]
	default:
		v, e.lists[key] = l[len(l)-1], l[:len(l)-1]
	}
	return v, true
}

func (e *elements) all() (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, kind := range []quorum.Kind{quorum.Run, quorum.Read} {
		n += e.asked[kind]
	}
	return n
}

func popped(key, v string) string {
	return fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(key), key, len(v), v)
}

const gone = "*-1\r\n"
