local held = redis.call('get', KEYS[1])
if held ~= ARGV[1] then return nil end
local done = redis.call('set', KEYS[1], held, 'PXAT', ARGV[2])
return done