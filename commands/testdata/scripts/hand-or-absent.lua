local held = redis.call('GET', KEYS[1])
if held == false or held ~= ARGV[1] then return false end
return redis.call('UNLINK', KEYS[1]) == 1