local v, ok = 0, 1
v, ok = redis.call('get', KEYS[1])
if v == ARGV[1] and ok then return redis.call('del', KEYS[1]) end
return 0
