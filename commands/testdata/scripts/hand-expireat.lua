local ok = 0
do
  local held = redis.call('get', KEYS[1])
  if held then
    if held == ARGV[1] then
      ok = redis.call('expireat', KEYS[1], ARGV[2])
    end
  else
    ok = -1
  end
end
return ok