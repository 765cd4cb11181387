package commands

import (
	"strings"

	"redlock-proxy/quorum"
)

// What is no string is watched by a digest of all of it. A command that reads a part
// of such a key takes the digest in the same step, so that it is known whether what
// the client saw is what WATCH read.

// readWatched carries out a command that reads a watched key, and takes the digest
// of the whole key in the same step.
func (s *Session) readWatched(key string, words []string, shape replyShape) Action {
	return runOwn(readWatchedScript, []string{key}, words, watchedRead{s.watch, key, shape})
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

// digestText makes digest(k), a digest of a key that is no string, the same on all masters
// that hold the same: false if there is no such key. What has no order is put into one by
// hashes, since these take a master as long to compare whatever a client thinks of, and how
// texts are sorted is a matter of its locale. A script may digest so much in all that a
// master is done with it in a few milliseconds.
const digestText = `local count = {hash = 'HLEN', list = 'LLEN', set = 'SCARD', zset = 'ZCARD'}
local elements, bytes = 0, 0
local function digest(k)
  local t = redis.call('TYPE', k).ok
  local parts
  if t == 'none' then return false
  elseif t == 'string' then parts = {redis.call('GET', k)}
  elseif not count[t] then error({err = 'ERR a key of type ' .. t .. ' cannot be watched: this proxy watches strings, hashes, lists, sets and sorted sets'}, 0)
  else
    elements = elements + redis.call(count[t], k)
    if elements <= 1000 then bytes = bytes + redis.bulk(k) end
    if elements > 1000 or bytes > 524288 then redis.refuse('what is watched has more than 1000 fields, elements and members in all, or takes more than 512 KiB') end
    if t == 'hash' then
      local all = redis.whole('HGETALL', k)
      parts = {}
      for i = 1, #all, 2 do parts[#parts + 1] = redis.sha1hex(#all[i] .. ':' .. all[i] .. all[i + 1]) end
      table.sort(parts)
    elseif t == 'set' then
      parts = redis.whole('SMEMBERS', k)
      for i = 1, #parts do parts[i] = redis.sha1hex(parts[i]) end
      table.sort(parts)
    elseif t == 'list' then parts = redis.whole('LRANGE', k, 0, -1)
    else parts = redis.whole('ZRANGE', k, 0, -1, 'WITHSCORES') end
  end
  for i = 1, #parts do parts[i] = #parts[i] .. ':' .. parts[i] end
  return redis.sha1hex(t .. ' ' .. table.concat(parts, ' '))
end
`

var (
	// digestScript answers the digests of KEYS in one text, digestLen bytes of each: of
	// one that there is not, blanks.
	digestScript = quorum.NewScript(digestText + `local all = {}
for i = 1, #KEYS do all[i] = digest(KEYS[i]) or string.rep(' ', 40) end
return table.concat(all)`).ReadOnly()

	readWatchedScript = quorum.NewScript(digestText + `local d = digest(KEYS[1])
return {d, redis.call(unpack(ARGV))}`).ReadOnly()
)

const digestLen = 40

// digestIn is the i-th of the digests that digestScript has answered.
func digestIn(all string, i int) string {
	return strings.Clone(all[min(i*digestLen, len(all)):min((i+1)*digestLen, len(all))])
}
