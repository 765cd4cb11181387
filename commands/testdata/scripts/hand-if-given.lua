local mine = redis.call('get', KEYS[1]) == ARGV[1]
if mine and ARGV[2] then redis.call('del', KEYS[1]) end
return mine and 1 or 0
