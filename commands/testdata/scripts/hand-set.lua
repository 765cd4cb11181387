if redis.call('get', KEYS[1]) ~= ARGV[1] then return nil end
return redis.call('set', KEYS[1], ARGV[1], 'XX', 'EX', ARGV[2])