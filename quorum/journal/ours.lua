-- What a script of ours has beside the prelude, which says what it knows and where this
-- stands. Nothing counts its steps. So before it reads or dumps what may be long, it is asked
-- how long that is, and what would be refused is refused first.

-- wholly is what a script of ours reads that has looked itself how much it is.
local function wholly(...)
  local r = raw(...)
  if type(r) == 'table' then its.toil = its.toil + 2 * #r end
  return r
end

-- passed is how many elements a script of ours has had the master look behind.
local passed = 0

-- sparing refuses for a script of ours, before anything is read, what encode would refuse.
sparing = function(n, k, ...)
  if n == 'HMGET' or n == 'MGET' then
    local sum, all = 0, {...}
    if #all > 1000 then refuse(seldom().tooLarge) end
    for i = 1, #all > 4 and #all - 1 or 0 do
      local size = n == 'MGET' and raw('STRLEN', all[i]) or n == 'HMGET' and raw('HSTRLEN', k, all[i])
      if type(size) == 'number' then sum = sum + size end
    end
    if sum > 2097152 then refuse(seldom().tooLarge) end
    return
  end
  local of = string.sub(n, 1, 1)
  local count = raw(n == 'SMEMBERS' and 'SCARD' or of == 'H' and 'HLEN' or of == 'Z' and 'ZCARD' or 'LLEN', k)
  if type(count) ~= 'number' or count <= 16 then return end
  local strings, behind = seldom().ranged(n, k, count, ...)
  if strings > 501 then refuse(seldom().tooLarge) end
  passed = passed + behind
  its.toil = its.toil + behind / 64
  if passed > 100000 then refuse('what is looked for is behind more than 100000 elements') end
  -- Of so few, what they take is soon told. A master counts with them what they take beside
  -- their bytes, which is never as much as they are.
  if of == 'H' or of == 'S' then
    local size = raw('MEMORY', 'USAGE', k, 'SAMPLES', '0')
    if type(size) == 'number' then
      if size > 4194304 then refuse(seldom().tooLarge) end
      its.toil = its.toil + size / 1024
    end
  end
end

-- Besides, whole reads what a script has found to be little enough itself, as by bulk.
h = {call = call, pcall = asked, error_reply = R.error_reply, sha1hex = R.sha1hex, whole = wholly, bulk = bulk, refuse = refuse}
