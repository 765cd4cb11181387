local held = redis.call('get', ARGV[1])
if (held == ARGV[2]) then
  return redis.call('del', ARGV[1])
else
  return 0
end