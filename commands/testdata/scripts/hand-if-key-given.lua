if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
if KEYS[2] and ARGV[3] ~= nil then return redis.call('del', KEYS[1]) end
return 1
