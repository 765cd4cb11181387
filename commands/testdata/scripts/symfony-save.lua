local kind = redis.call("TYPE", KEYS[1])["ok"]
if kind == "string" then return false end
local time = redis.call("TIME")
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", time[1] * 1000)
if redis.call("ZCOUNT", KEYS[1], "-inf", "+inf") > 0 then return false end
redis.call("ZADD", KEYS[1], ARGV[2], ARGV[1])
redis.call("PEXPIREAT", KEYS[1], ARGV[2])
return true
