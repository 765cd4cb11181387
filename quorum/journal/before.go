package journal

import (
	"strings"

	"redlock-proxy/quorum"
)

// What is done before a script: see whether it comes too late, and whether a step meets a latch.

// NoDate is later than any.
const NoDate = "9e15"

// NowText tells a script what the time is.
const NowText = "local __now=redis.call('TIME') "

// DatedText begins the scripts of what is dated, of which the date is the last argument.
const DatedText = NowText + "if __now[1]*1000+__now[2]/1000>tonumber(table.remove(ARGV)) then return -4 end "

// Undated is the text of a script without that.
func Undated(text string) string { return strings.TrimPrefix(text, DatedText) }

// latchKeys is what the names of the latches begin with; the tag of the key follows.
const latchKeys = quorum.PrivateKeys + "latch}:"

// Latch is the name of a key's latch, which all keys of its tag have.
func Latch(key string) string { return latchKeys + quorum.Tag(key) }

// tagText makes __tag, which is quorum.Tag. The prelude has it where that says so.
const tagText = `
local function __tag(k)
  local open = string.find(k, '{', 1, true)
  local close = open and string.find(k, '}', open + 1, true)
  return close and close > open + 1 and string.sub(k, open + 1, close - 1) or k
end
`

// Hold is what is left of a step's keys begins with where it is to latch them also if it does nothing.
const Hold = "!"

// latchText goes before the prelude of a step, whose last three arguments are what is left of its keys
// as it is to read that, see decide.Question.Left, and Hold; who it is; and how long its latches live. A latch that kept
// somebody out is marked, so that its holder gives way. What it is to latch is the third of __latch: keys of one
// tag have one latch, which is named twice where others stand between them.
var latchText = OneLine(`
local __latch = (function(K, A)
` + tagText + `
  local lease, me, left = table.remove(A), table.remove(A), table.remove(A)
  local latches, last = {}, nil
  for i = 1, #K do
    local l = '` + latchKeys + `' .. __tag(K[i])
    if l ~= last then
      local h = redis.call('GET', l)
      if h and string.sub(h, 1, 16) ~= string.sub(me, 1, 16) then
        if string.sub(h, -1) ~= '!' then redis.call('SET', l, h .. '!', 'KEEPTTL') end
        return false
      end
      latches[#latches + 1], last = l, l
    end
  end
  return {me, lease, latches, left, __now}
end)(KEYS, ARGV)
if not __latch then return {8, -1, '_', 0} end
`)
