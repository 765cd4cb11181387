package commands

import (
	"slices"
	"strings"

	"redlock-proxy/quorum"
)

// The bounds of what MULTI queues.
const (
	maxQueued      = 1000 // commands
	maxQueuedWords = 10_000
	maxQueuedBytes = 1 << 20 // of all their words

	queuedSize = 256 // about what a command takes beside its words
)

// transaction is what a connection has queued since MULTI.
type transaction struct {
	open   bool
	doomed bool // a command could not be queued
	queue  []queued
	words  int
	bytes  int

	scripts []string // the SHA-1s of those that it calls, as far as they are known, each once
	text    int      // how much these have
}

// memory is about what it takes, in bytes.
func (tx *transaction) memory() int { return tx.bytes + len(tx.queue)*queuedSize }

// queued is one command as the client sent it. EXEC makes of it what it would have
// come to alone.
type queued struct {
	command *Command
	args    []string
}

func (s *Session) multi(c *Command, args []string) Action {
	if s.tx.open {
		return refuse(errNestedMulti)
	}
	s.tx = transaction{open: true}
	return Action{Reply: OK}
}

func (s *Session) discard(c *Command, args []string) Action {
	if !s.tx.open {
		return refuse(errDiscardAlone)
	}
	s.forgetTransaction()
	return Action{Reply: OK}
}

// forgetTransaction ends what MULTI and WATCH began.
func (s *Session) forgetTransaction() { s.tx, s.watch = transaction{}, nil }

// goesThroughMulti tells that a command is carried out at once between MULTI and
// EXEC.
func (c *Command) goesThroughMulti() bool {
	switch c.Name {
	case "multi", "exec", "discard", "watch", "quit", "reset":
		return true
	}
	return false
}

// queueable tells whether EXEC can carry a command out: on keys, by a command that
// the masters know, or without asking anybody.
func (c *Command) queueable(args []string) bool {
	switch c.Name {
	case "ping", "echo", "time", "publish", "spublish", "unwatch", "eval", "evalsha", "eval_ro", "evalsha_ro":
		return true
	case "delex":
		return false
	case "set":
		o, ok := parseSetOptions(args[3:])
		return !ok || o.when.word == ""
	}
	return c.KeyFlags != "" && (c.parent == nil || c.parent.Name != "lock")
}

// runsScript tells that a command is a client's script.
func (c *Command) runsScript() bool { return hasWord(c.Categories, "scripting") }

// queue queues a command, or says why it cannot.
func (s *Session) queue(c *Command, args []string) Action {
	tx := &s.tx
	n := bytesOf(args)
	switch {
	case !c.queueable(args):
		return s.doom(refusef(errNotQueued, c.typed()))
	case len(args) > maxWords:
		return s.doom(refusef(errTooManyWords, c.Name, maxWords))
	case len(tx.queue) == maxQueued, tx.words+len(args) > maxQueuedWords, tx.bytes+n > maxQueuedBytes:
		return s.doom(refusef(errQueueFull, maxQueued, maxQueuedWords, maxQueuedBytes))
	}
	if c.runsScript() {
		if text := s.queueScript(args, strings.HasPrefix(c.Name, "eval_") || c.Name == "eval"); text != "" {
			return s.doom(refuse(text))
		}
	}
	tx.words += len(args)
	tx.bytes += n
	if !tx.doomed {
		tx.queue = append(tx.queue, queued{c, ofItsOwn(args)})
	}
	return Action{Reply: Simple("QUEUED")}
}

// ofItsOwn copies words that are kept for longer than their command: the bytes that they are
// part of hold other commands as well, of other clients.
func ofItsOwn(words []string) []string {
	var b strings.Builder
	for _, word := range words {
		b.WriteString(word)
	}
	own, all := make([]string, len(words)), b.String()
	for i, word := range words {
		own[i], all = all[:len(word)], all[len(word):]
	}
	return own
}

// doom notes that the open transaction cannot be carried out any more.
func (s *Session) doom(a Action) Action {
	if s.tx.open {
		s.tx.doomed, s.tx.queue, s.tx.scripts = true, nil, nil
	}
	return a
}

// abort makes of an error of EXEC itself the end of the transaction.
func (s *Session) abort(a Action) Action {
	s.forgetTransaction()
	a.Reply.Str = errExecAbortOf + strings.TrimPrefix(a.Reply.Str, "ERR ")
	return a
}

func (s *Session) exec(c *Command, args []string) Action {
	tx, w := s.tx, s.watch
	if !tx.open {
		return refuse(errExecAlone)
	}
	s.forgetTransaction()
	switch {
	case tx.doomed:
		return refuse(errExecAbort)
	case w != nil && w.db != s.seen.DB:
		return refusef(errWatchDB, w.db)
	}
	allowed := make([]*judged, len(tx.queue))
	for i, q := range tx.queue {
		var a Action
		if s.forbidden(q.command, q.args, &a) { // his rights are others since
			a.Reply.Str = errExecAbortOf + a.Reply.Str
			return a
		}
		allowed[i] = s.judged
	}
	e := execution{command: c, w: w, mixes: &s.d.mixes}
	if s.rights.user.LimitsLocks() {
		e.limit = s.limit()
	}
	for i, q := range tx.queue {
		s.judged = allowed[i]
		a, call := s.alone(q)
		if text := e.limit.refusal(q.command, &a); text != "" {
			return e.limit.refuse(Action{Command: c}, text, a.Requests[0].Key)
		}
		e.plan(q, a, call)
	}
	if textOf(scriptsOf(e.steps)) > mostOfScripts { // of one it was not known before
		return refuse(errExecAbortOf + strings.TrimPrefix(overlong, "ERR "))
	}
	if w == nil && len(tx.queue) == 1 && len(e.steps[0].alone.Requests) > 0 {
		a := e.steps[0].alone
		a.Render, a.Block = onlyOne{a.Render}, nil
		return a
	}
	a := e.begin()
	a.Frees = slices.ContainsFunc(e.steps, step.frees)
	return a
}

// execution is a transaction that is carried out.
type execution struct {
	command *Command // EXEC
	w       *watch   // nil: nothing is watched
	steps   []step
	limit   *limit // nil: there is no bound on what its user takes
	mixes   *mixes
}

// step is one command of an execution.
type step struct {
	words []string      // what the masters carry out; nil if they are not asked
	call  *scriptCalled // or the script that they run
	keys  []string
	shape replyShape
	reply Reply // if they are not asked
	reads bool  // it writes nothing
	exact bool  // the masters that carry it out must have made the same

	alone Action // what the command comes to by itself
}

// alone is what a command comes to by itself, and the script that it calls, if it does.
func (s *Session) alone(q queued) (Action, *scriptCalled) {
	if !q.command.runsScript() {
		return q.command.do(s, q.command, q.args), nil
	}
	call, text := s.scriptCalled(q.command, q.args)
	if text != "" {
		return refuse(text), nil
	}
	return s.run(call), call
}

// plan takes in a command with what it comes to alone: if that is a reply, it is
// one here too.
func (e *execution) plan(q queued, a Action, call *scriptCalled) {
	a.Requests = slices.Clone(a.Requests)
	st := step{alone: a, reply: a.Reply}
	switch {
	case a.Reply.Kind != 0:
	case call != nil:
		st.call, st.keys, st.shape, st.reads = call, call.keys, asItIs, call.reads
	default:
		st.words, st.shape, st.reads = masterWords(q.command, q.args), shapeOf(q.command, q.args), q.command.HasFlag("readonly")
		st.exact = q.command.isExact()
		if q.command.KeyFlags != "" {
			st.keys = q.command.keys(q.args)
		}
	}
	e.steps = append(e.steps, st)
}

// frees tells that the command deletes a key, or may.
func (st step) frees() bool {
	requests := st.alone.Requests
	return st.alone.Frees || len(requests) > 0 && (requests[0].Kind == quorum.Remove || requests[0].Kind == quorum.Release)
}

// takes tells that the command takes a lock, or extends one.
func (st step) takes() bool {
	return slices.ContainsFunc(st.alone.Requests, func(r quorum.Request) bool { return takes(&r) })
}

// asks tells whether the masters must be asked for the step.
func (st step) asks() bool { return st.words != nil || st.call != nil }

// begin goes on at once if everything watched is known, which it is unless the
// client sent EXEC before it had the reply to WATCH. Then that is waited for: the
// keys are undecided until it is there.
func (e *execution) begin() Action {
	if e.w != nil {
		if keys, _, _, known := e.w.known(); !known {
			return Action{
				Requests:  runOwn(e.waiting(), e.keys(keys), nil, nil).Requests,
				Render:    afterWatch{e},
				Continues: true,
			}
		}
	}
	return e.action()
}

// keys are those given and those of all steps, each once.
func (e *execution) keys(keys []string) []string {
	var all keySet
	for _, key := range keys {
		all.add(key)
	}
	for i := range e.steps {
		for _, key := range e.steps[i].keys {
			all.add(key)
		}
	}
	return all.list
}

type afterWatch struct{ e *execution }

func (a afterWatch) Render(results []quorum.Result) (Reply, Action) {
	if text, failed := failureOfRun(results[0]); failed {
		return text, Action{}
	}
	next := a.e.action()
	return next.Reply, next
}
