local held = redis.call('get', KEYS[1])
local left = redis.call('ttl', KEYS[1])
if left == -2 then return 'gone' end
if left >= 0 and held == ARGV[1] then
  redis.call('pexpire', KEYS[1], ARGV[2])
  return 'held'
end
return 'lost' 