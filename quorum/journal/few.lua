-- What few scripts call. It is the end of command, behind all else: n and k are at hand there, and
-- what is written here costs others nothing.

-- From here on steps are taken by whoever takes some, a script of the client's or one of ours.
local function takes(steps)
  if spend then spend(steps) else its.toil = its.toil + steps end
end

-- reading refuses to read all of a key that has more than is to be gone through. What is read may
-- have been thought of to collide where Lua keeps its strings: so the many cost more each.
local function reading(count)
  if count > 4096 then refuse(n .. ' goes through no key of more than 4096 elements') end
  if bulk(k) > 4194304 then refuse(n .. ' goes through no key of more than 4194304 bytes') end
  takes(count * count / 2048 + count / 2)
end

-- whole is an argument as Redis reads a number of 64 bits, nil where it takes none.
local function whole(v)
  v = text(v)
  local digits = type(v) == 'string' and (v == '0' and v or string.match(v, '^%-?([1-9]%d*)$'))
  if not digits or #digits > 19 or #digits == 19 and digits > (v == '-' .. digits and '9223372036854775808' or '9223372036854775807') then return nil end
  return tonumber(v)
end

local notWhole, syntax = {err = 'ERR value is not an integer or out of range'}, {err = 'ERR syntax error'}
local given = select('#', ...)

if n == 'HSTRLEN' or n == 'ZMSCORE' or n == 'ZRANK' or n == 'ZREVRANK' then
  if k ~= K[1] then check(k) end
  if given == 2 and (n == 'ZRANK' or n == 'ZREVRANK') then
    -- Masters before 7.2 take no option.
    local member, option = ...
    if string.upper(tostring(option)) ~= 'WITHSCORE' then return syntax end
    local r = raw(n, k, member)
    return type(r) == 'number' and {r, raw('ZSCORE', k, member)} or r
  end
  return raw(n, k, ...)
elseif n == 'TOUCH' then
  check(k)
  local all = {...}
  for i = 1, given do check(all[i]) end
  return raw(n, k, ...)
elseif n == 'EXPIRETIME' or n == 'PEXPIRETIME' then
  if k ~= K[1] then check(k) end
  local p = raw('PTTL', k, ...)
  if type(p) == 'number' and p >= 0 then
    p = seldom().clock() + math.max(p - math.floor(p / 100) - 2, 1)
    if n == 'EXPIRETIME' then p = math.floor((p + 500) / 1000) end
    its.ttls = its.ttls or {}
    its.ttls[p] = true
  end
  return p
elseif n == 'RENAME' or n == 'RENAMENX' or n == 'COPY' then
  local to, options = ..., {...}
  if type(text(to)) ~= 'string' or given > 1 and n ~= 'COPY' then return raw(n, k, ...) end
  to = seldom().named(to)
  for i = 2, given do
    if string.upper(tostring(options[i])) == 'DB' then refuse('COPY to another database is not for this proxy: masters vote on one') end
  end
  if n == 'COPY' then
    check(k)
    -- A step has a record of it already.
    local size = bulk(k)
    if size > 2097152 then refuse(seldom().large) end
    if not L then its.heavy = (its.heavy or 0) + size end
  else
    record(k)
  end
  record(to)
  local r = raw(n, k, to, select(2, ...))
  if k ~= to and (r == 1 or type(r) == 'table' and r.ok) then
    its.wrote, its.removed = true, its.removed or n ~= 'COPY'
  end
  return r
elseif n == 'SPOP' or n == 'SRANDMEMBER' then
  -- All masters choose alike: by hashes of the members and of what only they are given, which
  -- is the time, or in a script of ours the argument behind the key.
  local seed, count = ...
  if spend then
    its.chosen = (its.chosen or 0) + 1
    seed, count = A[1] .. ' ' .. A[2] .. ' ' .. its.chosen, seed
  else
    given = given - 1
  end
  if given > 1 then return syntax end
  local most = 1
  if given == 1 then
    most = whole(count)
    if n == 'SPOP' and not (most and most >= 0) then return {err = 'ERR value is out of range, must be positive'} end
    if not most then return notWhole end
    if text(count) == '-9223372036854775808' then
      return {err = 'ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807'}
    end
  end
  if n == 'SPOP' then record(k) elseif k ~= K[1] then check(k) end
  local size = raw('SCARD', k)
  if type(size) ~= 'number' then return size end
  if size == 0 or most == 0 then return given == 1 and {} end
  if math.abs(most) > 501 and (most < 0 or size > 501) then refuse(seldom().tooLarge) end
  reading(size)
  local members, of = raw('SMEMBERS', k), {}
  for i, member in ipairs(members) do
    local hash = R.sha1hex(seed .. ' ' .. member)
    members[i], of[hash] = hash, member
  end
  table.sort(members)
  local chosen = {}
  for i = 1, most < 0 and -most or math.min(most, size) do
    local at = most > 0 and i or 1 + tonumber(string.sub(R.sha1hex(seed .. ' ' .. i), 1, 12), 16) % size
    chosen[i] = of[members[at]]
  end
  if n == 'SPOP' then
    raw('SREM', k, unpack(chosen))
    its.removed = true
  end
  return given == 1 and chosen or chosen[1]
elseif n == 'HSCAN' or n == 'SSCAN' or n == 'ZSCAN' then
  -- A cursor is a place in the order of the elements' hashes, which all masters know alike: so
  -- each element that is there all the time is told once, whatever comes and goes meanwhile.
  if k ~= K[1] then check(k) end
  local options, each = {...}, n == 'SSCAN' and 1 or 2
  local cursor, most, pattern = text(options[1]), 10, nil
  if #options ~= given or type(cursor) ~= 'string' then return raw(n, k, ...) end
  local from = cursor == '' and '0' or string.match(cursor, '^[+-]?(%d+)$')
  if not from or #from > 20 or #from == 20 and from > '18446744073709551615' then return {err = 'ERR invalid cursor'} end
  from = tonumber(cursor) or 0
  local size = raw(n == 'HSCAN' and 'HLEN' or n == 'SSCAN' and 'SCARD' or 'ZCARD', k)
  if type(size) ~= 'number' then return size end
  if size == 0 then return {'0', {}} end
  for i = 2, given, 2 do
    local option = string.upper(tostring(options[i]))
    if i == given then return syntax end
    if option == 'COUNT' then
      most = whole(options[i + 1])
      if not most then return notWhole end
      if most < 1 then return syntax end
    elseif option == 'MATCH' then
      pattern = text(options[i + 1])
    else
      return syntax
    end
  end
  reading(size)

  -- elements are those that the pattern matches, if there is one, with their hashes.
  local function elements(pattern)
    local at, list, there = '0', {}, {}
    repeat
      local r = pattern and raw(n, k, at, 'COUNT', '4096', 'MATCH', pattern) or raw(n, k, at, 'COUNT', '4096')
      if r.err then return r end
      at = r[1]
      for i = 1, #r[2], each do
        local name = r[2][i]
        local place = tonumber(string.sub(R.sha1hex(name), 1, 12), 16)
        if there[place] ~= name then
          there[place] = name
          list[#list + 1] = {place, name, r[2][i + 1]}
        end
      end
    until at == '0'
    return list
  end

  local stars = 0
  if type(pattern) == 'string' then
    if #pattern > 1024 then refuse('a pattern is longer than 1024 bytes') end
    local _, all = string.gsub(pattern, '%*+', '')
    stars = string.sub(pattern, -1) == '*' and all - 1 or all
  end
  local list = elements(stars == 0 and pattern or nil)
  if list.err then return list end
  if stars > 0 then
    -- Old masters try all that each star may stand for, and do nothing else meanwhile.
    local tries = 0
    for _, e in ipairs(list) do tries = tries + #pattern * (#e[2]) ^ stars end
    if not (tries <= 4194304) then refuse('a pattern with stars in front of its end takes a master too long here') end
    takes(tries / 2048 + size / 2)
    list = elements(pattern)
    if list.err then return list end
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  local page, bytes, after = {}, 0, nil
  most = math.min(math.max(most, 128), 500 / each)
  for _, e in ipairs(list) do
    if e[1] >= from then
      if after ~= e[1] and (#page / each >= most or bytes > 1048576) then return {string.format('%.0f', e[1]), page} end
      after, bytes = e[1], bytes + #e[2] + (e[3] and #e[3] or 0)
      page[#page + 1] = e[2]
      if each == 2 then page[#page + 1] = e[3] end
    end
  end
  return {'0', page}
elseif (n == 'OBJECT' or n == 'MEMORY') and given > 0 then
  local key, option, samples = ...
  local what = string.upper(k)
  if n == 'MEMORY' and what == 'USAGE' then
    check(key)
    local r
    if given == 3 and string.upper(tostring(option)) == 'SAMPLES' and (whole(samples) == 0 or (whole(samples) or 0) > 4096) then
      takes(512)
      r = raw(n, k, key, option, '4096')
    else
      r = raw(n, k, ...)
    end
    -- Each master counts for itself: told is what so many have as much as.
    if type(r) == 'number' then
      its.ttls = its.ttls or {}
      its.ttls[r] = true
    end
    return r
  elseif n == 'OBJECT' and (what == 'ENCODING' or what == 'FREQ' or what == 'IDLETIME' or what == 'REFCOUNT') then
    check(key)
    local r = raw(n, k, ...)
    if what == 'ENCODING' then return r == 'ziplist' and 'listpack' or r end
    if type(r) == 'number' then
      its.ttls = its.ttls or {}
      its.ttls[r] = true
    end
    return r
  end
end
