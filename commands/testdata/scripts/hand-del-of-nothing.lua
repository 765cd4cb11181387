local held = redis.call('get', KEYS[2])
if held and held ~= ARGV[3] then return "busy" else return redis.call('del', KEYS[2]) end