package commands

import (
	"slices"

	"redlock-proxy/quorum"
)

// What is no string is watched by a digest of all of it. A command that reads a part
// of such a key takes the digest in the same step, so that it is known whether what
// the client saw is what WATCH read.

// readWatched carries out a command that reads a watched key, and takes the digest
// of the whole key in the same step.
func (s *Session) readWatched(key string, args []string, shape replyShape) Action {
	return runOwn(readWatchedScript, []string{key}, slices.Clone(args), watchedRead{s.watch, key, shape})
}

type watchedRead struct {
	w     *watch
	key   string
	shape replyShape
}

func (w watchedRead) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	if text, failed := failureOfRun(r); failed {
		return text, Action{}
	}
	if len(r.Script.Elems) != 2 {
		return Null, Action{}
	}
	digest, reply := r.Script.Elems[0], r.Script.Elems[1]
	state := keyState{formOther, digest.Str}
	if digest.Kind != quorum.BulkReply {
		state = keyState{form: formAbsent}
	}
	w.w.see(w.key, state)
	return w.shape.reply(reply), Action{}
}

// digestText is the digest of a key that is no string, the same on all masters that
// hold the same: nil if there is no such key.
const digestText = sortedText + `local function digest(k)
  local t = redis.call('TYPE', k).ok
  local parts
  if t == 'none' then return false
  elseif t == 'string' then parts = {redis.call('GET', k)}
  elseif t == 'hash' then parts = sortedPairs(redis.call('HGETALL', k))
  elseif t == 'set' then parts = sorted(redis.call('SMEMBERS', k))
  elseif t == 'zset' then parts = redis.call('ZRANGE', k, 0, -1, 'WITHSCORES')
  else error({err = 'ERR a key of type ' .. t .. ' cannot be watched: this proxy watches strings, hashes, sets and sorted sets'}, 0) end
  for i = 1, #parts do parts[i] = #parts[i] .. ':' .. parts[i] end
  return redis.sha1hex(t .. ' ' .. table.concat(parts, ' '))
end
`

var (
	digestScript = quorum.NewScript(digestText + "return digest(KEYS[1])").ReadOnly()

	readWatchedScript = quorum.NewScript(digestText + `local d = digest(KEYS[1])
local r = redis.call(unpack(ARGV))
if ARGV[1] == 'HGETALL' then r = sortedPairs(r) end
if ARGV[1] == 'SMEMBERS' then r = sorted(r) end
return {d, r}`).ReadOnly()
)
