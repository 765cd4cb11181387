package commands

import (
	"fmt"
	"slices"

	"redlock-proxy/quorum"
)

// What is about all keys of a database is put to the masters as it is, and their
// answers are counted. A master that was away keeps what the others have flushed: a
// removal is not owed, and what a minority holds is no lock.

// survey asks every master.
func survey(render Render, args ...string) Action {
	return Action{Requests: []quorum.Request{{Kind: quorum.Survey, Args: args}}, Render: render}
}

// flush is FLUSHDB and FLUSHALL.
func (s *Session) flush(c *Command, args []string) Action {
	if len(args) > 2 || len(args) == 2 && !sameWord(args[1], "async") && !sameWord(args[1], "sync") {
		return refuse(errSyntax)
	}
	return survey(flushed{}, slices.Clone(args)...)
}

// flushed is OK where a quorum says so.
type flushed struct{}

func (flushed) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	if text, failed := failure(r); failed {
		return text, Action{}
	}
	done, refusal := 0, ""
	for _, a := range r.Answers {
		switch {
		case !a.Given:
		case a.Reply.Kind == quorum.FailureReply:
			refusal = a.Reply.Str
		default:
			done++
		}
	}
	if done < r.Needed {
		return Error(oneLine(refusal)), Action{}
	}
	return OK, Action{}
}

// dbsize also asks for the proxy's own keys that stay, which are not counted.
func (s *Session) dbsize(c *Command, args []string) Action {
	a := survey(counted{}, "DBSIZE")
	a.Requests = append(a.Requests, survey(nil, "EXISTS", quorum.MarkerKey, quorum.StepsKey).Requests...)
	return a
}

// counted is the quorum-th largest of the masters' counts: a quorum holds as many
// keys. The second result is how many of them are the proxy's own.
type counted struct{}

func (counted) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	if text, failed := failure(r); failed {
		return text, Action{}
	}
	var counts []int64
	for i, a := range r.Answers {
		own := results[1].Answers[i]
		if a.Given && a.Reply.Kind == quorum.IntegerReply && own.Given {
			counts = append(counts, max(a.Reply.Int-own.Reply.Int, 0))
		}
	}
	if len(counts) < r.Needed {
		return tooFew(len(counts), r), Action{}
	}
	return Integer(ofQuorum(counts, r.Needed)), Action{}
}

// randomKey takes the first key that a master has named and a quorum holds. If none
// is held so, it looks for any other.
func (s *Session) randomKey(c *Command, args []string) Action {
	a := survey(named{s.d, s.reads(c)}, "RANDOMKEY")
	a.Continues = true
	return a
}

type named struct {
	d     *Dialect
	shown func(key string) bool
}

func (n named) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	if text, failed := failure(r); failed {
		return text, Action{}
	}
	w := newWalk(n.d, anyKey, everyKey, n.shown)
	empty := true
	for _, a := range r.Answers {
		if a.Given && a.Reply.Kind == quorum.BulkReply {
			empty = false
			w.find(a.Reply.Str) // it may be the proxy's own
		}
	}
	if empty {
		return Null, Action{}
	}
	next := w.next()
	return next.Reply, next
}

// tooFew is the error that only so many masters gave a true answer.
func tooFew(voted int, r quorum.Result) Reply {
	return Error(fmt.Sprintf(errFewAnswers, voted, r.Masters, r.Needed))
}
