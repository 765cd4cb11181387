redis.call("ZREM", KEYS[1], ARGV[1])
redis.call("ZREM", KEYS[1], "__write__")
local last = redis.call("ZRANGE", KEYS[1], -1, -1, "WITHSCORES")[2]
if last then redis.call("PEXPIREAT", KEYS[1], last) end
return true
