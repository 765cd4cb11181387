package commands

import (
	"strings"

	"redlock-proxy/quorum"
)

// lockForce is LOCK FORCE: it frees a lock that its holder, named by the fingerprint that LOCK
// INFO tells, still has. Its value is what the masters are asked to delete, so that of somebody who
// has it by then nothing is taken.
func (s *Session) lockForce(c *Command, args []string) Action {
	f := forced{d: s.d, key: strings.Clone(args[2]), by: s.seen, from: s.from}
	if lower(args[3]) != "holder" {
		return refuse(errSyntax)
	}
	f.holder = lower(args[4])
	var ok bool
	if f.reason, ok = ReasonOf(args[5:]); !ok {
		return refuse(errSyntax)
	}
	return Action{Requests: askContents(f.key, mostContent), Render: f, Continues: true}
}

type forced struct {
	d                   *Dialect
	key, holder, reason string
	by                  Snapshot
	from                string
}

func (f forced) Render(results []quorum.Result) (Reply, Action) {
	k := stateOf(results)
	switch {
	case k.state == unknownState:
		return f.answered(Error(k.why)), Action{}
	case k.state == freeState:
		return f.answered(Error("ERR nobody holds it")), Action{}
	case len(k.value.parts) == 0:
		return f.answered(Error("ERR its value is not the same on a quorum of masters, or too long to be told who holds it; DEL frees it whoever does")), Action{}
	case k.fingerprint() != f.holder:
		return f.answered(Error("ERR it is held by another one by now, see LOCK INFO")), Action{}
	case k.value.typ != "string":
		return f.answered(Error("ERR it is a " + k.value.typ + ", which cannot be freed only if it is still the same; DEL frees it whatever it is")), Action{}
	}
	r := quorum.Request{Kind: quorum.Release, Key: f.key, Token: k.value.parts[0]}
	return Reply{}, Action{Requests: []quorum.Request{r}, Render: freed{f}}
}

// answered notes the order.
func (f forced) answered(r Reply) Reply {
	f.d.lookout.Ordered(Order{Name: "LOCK FORCE", About: f.key, Lock: true, Reason: f.reason, Answer: r.Str, Refused: r.Kind == ErrorReply, By: f.by, From: f.from})
	return r
}

// freed tells what came of it.
type freed struct{ f forced }

func (n freed) Render(results []quorum.Result) (Reply, Action) {
	if text, failed := failure(results[0]); failed {
		return n.f.answered(text), Action{}
	}
	if results[0].Decision != quorum.Won {
		return n.f.answered(Error("ERR it is held by another one by now, or by nobody, see LOCK INFO")), Action{}
	}
	return n.f.answered(Simple("OK, its holder does not know of it, and may go on as if it held the lock")), Action{}
}
