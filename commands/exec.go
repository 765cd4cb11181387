package commands

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
)

// execScript compares what is watched, and then carries out what was queued.
//
// ARGV is the number of watched keys; of each its place in KEYS, what form it had and
// its value; then the number of commands, and of each the number of its words and
// the words. It answers nil where a key is not what it was. A count that is no whole number
// in Lua is read again: see countText. It ends before it reads more than it may answer.
//
// A call of a client's script is a command of no words: its number, whether it may only read, and its keys and
// arguments, behind how many there are. Behind all are the scripts, the first one last: of each its text, the names
// that it calls and its SHA-1. Only a script of NewRunner has redis.script.
var (
	execScript      = quorum.NewStep(execText)
	execExactScript = quorum.NewExactStep(execText)
)

const execText = digestText + `local at = 0
local function next()
  at = at + 1
  return ARGV[at]
end
local function list()
  local all = {}
  for i = 1, tonumber(next()) do all[i] = next() end
  return all
end
local clients = {}
local function client(i)
  local from = #ARGV - 3 * i
  clients[i] = clients[i] or {body = ARGV[from + 1], names = ARGV[from + 2], sha = ARGV[from + 3]}
  return clients[i]
end
for _ = 1, tonumber(next()) do
  local k, form, value = KEYS[tonumber(next())], next(), next()
  local t = redis.call('TYPE', k).ok
  local same
  if form == 'absent' then same = t == 'none'
  elseif form == 'string' then same = t == 'string' and redis.call('GET', k) == value
  else same = t ~= 'none' and t ~= 'string' and digest(k) == value end
  if not same then return false end
end
local values, size = 0, 0
local function tell(r)
  if type(r) == 'table' and not r.err and not r.ok then
    for i = 1, #r do tell(r[i]) end
  elseif r then
    values, size = values + 1, size + (type(r) == 'string' and #r or 0)
  end
end
local replies = {}
local function carried(words)
  local r, name = redis.pcall(unpack(words)), string.lower(words[1])
  if type(r) == 'number' and math.abs(r) >= 9007199254740992 then
    if name == 'hincrby' then r = redis.call('HGET', words[2], words[3])
    elseif string.find(' incr incrby decr decrby ', ' ' .. name .. ' ', 1, true) then r = redis.call('GET', words[2]) end
  end
  tell(r)
  return r
end
for c = 1, tonumber(next()) do
  local words = list()
  if values > 500 or size > 2097152 then redis.refuse('the reply of the script is too large') end
  if #words > 0 then replies[c] = carried(words)
  else replies[c] = redis.script(client(tonumber(next())), next() == 'true', list(), list()) or false end
end
return replies`

// action puts the transaction to the masters, where there is something to ask.
func (e *execution) action() Action {
	var watched []string
	var states map[string]keyState
	if e.w != nil {
		keys, known, intact, _ := e.w.known()
		if !intact {
			return Action{Reply: Reply{Kind: NullArrayReply}}
		}
		watched, states = keys, known
	}
	if a, ok := e.asOneLock(watched, states); ok {
		return a
	}
	if i := slices.IndexFunc(e.steps, step.takes); i >= 0 && e.limit.counts() {
		text := fmt.Sprintf(errNotCounted, e.limit.user.Name)
		return e.limit.refuse(Action{Command: e.command}, text, e.steps[i].keys[0])
	}
	asked := 0
	for i := range e.steps {
		if e.steps[i].asks() {
			asked++
		}
	}
	if asked == 0 && len(watched) == 0 {
		return Action{Reply: e.replies(nil)}
	}
	bytes := 0
	for _, state := range states {
		bytes += len(state.value)
	}
	if bytes > maxWatchedBytes {
		return refusef(errWatchBytes, maxWatchedBytes)
	}
	return runOwn(e.script(), e.keys(watched), e.words(watched, states, asked), executed{e})
}

// words are what execText is told.
func (e *execution) words(watched []string, states map[string]keyState, asked int) []string {
	scripts := scriptsOf(e.steps)
	args := []string{strconv.Itoa(len(watched))}
	for i, key := range watched {
		args = append(args, strconv.Itoa(i+1), states[key].form, states[key].value)
	}
	args = append(args, strconv.Itoa(asked))
	for i := range e.steps {
		switch st := &e.steps[i]; {
		case st.call != nil:
			args = append(args, st.call.words(1+slices.Index(scripts, st.call.sc))...)
		case st.words != nil:
			args = append(args, strconv.Itoa(len(st.words)))
			args = append(args, st.words...)
		}
	}
	for _, sc := range slices.Backward(scripts) {
		args = append(args, sc.printedWords()...)
	}
	return args
}

// script is the one that carries out the transaction.
func (e *execution) script() *quorum.Script {
	script := execScript
	switch {
	case slices.ContainsFunc(e.steps, func(st step) bool { return st.call != nil }):
		script = e.mixes.of(e.steps)
	case slices.ContainsFunc(e.steps, func(st step) bool { return st.exact && !st.reads }):
		script = execExactScript
	}
	if !slices.ContainsFunc(e.steps, func(st step) bool { return st.asks() && !st.reads }) {
		script = script.ReadOnly()
	}
	return script
}

// asOneLock is a transaction that watches one string and deletes or expires it: a
// compare-and-delete is a release, and a compare-and-expire an extend.
func (e *execution) asOneLock(watched []string, states map[string]keyState) (Action, bool) {
	if len(watched) != 1 || len(e.steps) != 1 || states[watched[0]].form != formString {
		return Action{}, false
	}
	requests := e.steps[0].alone.Requests
	if len(requests) != 1 || requests[0].Key != watched[0] {
		return Action{}, false
	}
	r := quorum.Request{Key: watched[0], Token: states[watched[0]].value}
	switch alone := requests[0]; {
	case alone.Kind == quorum.Remove:
		r.Kind = quorum.Release
	case alone.Kind == quorum.Write && alone.Args[0] == "PEXPIRE" && alone.TTLArg == 2 && len(alone.Args) == 3:
		r.Kind, r.TTL, r.Far, r.At = quorum.Extend, alone.TTL, alone.Far, alone.At
	default:
		return Action{}, false
	}
	return Action{Requests: []quorum.Request{r}, Render: executedAsLock{}}, true
}

// replies are those of all steps, in order: from the masters for those that asked
// them.
func (e *execution) replies(given []quorum.ScriptReply) Reply {
	replies := make([]Reply, len(e.steps))
	for i := range e.steps {
		st := &e.steps[i]
		replies[i] = st.reply
		if st.asks() && len(given) > 0 {
			replies[i] = st.shape.reply(given[0])
			given = given[1:]
		}
		if replies[i].Kind == 0 {
			replies[i] = Null
		}
	}
	return Array(replies...)
}

// executed renders a transaction.
type executed struct{ e *execution }

func (x executed) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	if text, failed := failureOfRun(r); failed {
		return text, Action{}
	}
	if r.Script.Kind != quorum.ArrayReply {
		return Reply{Kind: NullArrayReply}, Action{}
	}
	return x.e.replies(r.Script.Elems), Action{}
}

// executedAsLock renders a transaction that was a release or an extend.
type executedAsLock struct{}

func (executedAsLock) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	text, failed := failure(r)
	switch {
	case failed && r.Reply.Kind != quorum.FailureReply:
		return text, Action{}
	case failed, r.Decision != quorum.Won:
		return Reply{Kind: NullArrayReply}, Action{}
	}
	return Array(Integer(1)), Action{}
}

// onlyOne is a transaction of one command that watches nothing: the command itself,
// in an array. That there was no quorum is said of the whole.
type onlyOne struct{ render Render }

func (o onlyOne) Render(results []quorum.Result) (Reply, Action) {
	reply, next := o.render.Render(results)
	switch {
	case len(next.Requests) > 0:
		next.Render = onlyOne{next.Render}
		return Reply{}, next
	case reply.Kind == ErrorReply && strings.HasPrefix(reply.Str, "NOQUORUM "):
		return reply, Action{}
	}
	return Array(reply), Action{}
}
