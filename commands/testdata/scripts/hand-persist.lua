if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
local ttl = tonumber(ARGV[2])
if ttl <= 0 then redis.call('persist', KEYS[1]) else redis.call('pexpire', KEYS[1], ttl) end
return 1