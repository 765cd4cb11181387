-- What few scripts call. It is the end of command, behind all else: n and k are at hand there, and
-- what is written here costs others nothing.

-- takes takes steps. A script of ours, which has none, may have many such commands: they may
-- take together what the longest of them does, and somewhat more.
local function takes(steps)
  if spend then return spend(steps) end
  its.toil, its.taken = its.toil + steps, (its.taken or 0) + steps
  if its.taken > 16384 then refuse('what goes through whole keys takes a master too long together') end
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

-- place is where a text stands among others by its hash, which is so for all masters, and evenly.
local function place(s)
  return tonumber(string.sub(R.sha1hex(s), 1, 12), 16)
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
    local score = type(r) == 'number' and raw('ZSCORE', k, member)
    if type(score) ~= 'string' then return score or r end
    return {r, score}
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
    if p <= 6400000000000 then p = math.max(p - math.floor(p / 100) - 2, 1) end
    if L and L[4] ~= '' then p = seldom().alike(k, p) end
    p = seldom().clock() + p
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
    local size = bulk(k)
    if size > 2097152 then refuse(seldom().large) end
    its.copied = (its.copied or 0) + size
    if its.copied > 2097152 then refuse(seldom().tooMuch) end
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
  local members, chosen = raw('SMEMBERS', k), {}
  if members.err then return members end
  if most == 1 then
    local least
    for i = 1, size do
      local at = place(seed .. ' ' .. members[i])
      if not least or at < least then least, chosen[1] = at, members[i] end
    end
  else
    local of = {}
    for i = 1, size do
      local at = place(seed .. ' ' .. members[i])
      members[i], of[at] = at, members[i]
    end
    table.sort(members)
    for i = 1, most < 0 and -most or math.min(most, size) do
      chosen[i] = of[members[most > 0 and i or 1 + place(seed .. ' ' .. i) % size]]
    end
  end
  if n == 'SPOP' then
    local r = raw('SREM', k, unpack(chosen))
    if type(r) ~= 'number' then return r end
    its.removed = true
  end
  return given == 1 and chosen or chosen[1]
elseif n == 'ZPOPMIN' or n == 'ZPOPMAX' or n == 'LMPOP' or n == 'ZMPOP' then
  -- Masters before 7.0 do not know the latter two, and read another count than those after.
  local words, several, list = {k, ...}, string.sub(n, 2) == 'MPOP', n == 'LMPOP'
  local first, last, pop, most = 1, 1, n, 1
  for i = 1, given + 1 do
    words[i] = text(words[i])
    if type(words[i]) ~= 'string' then return raw(n, k, ...) end
  end
  if several then
    if given < 2 then return {err = 'ERR Wrong number of args calling Redis command from script'} end
    local keys = whole(k)
    if not keys or keys < 1 then return {err = 'ERR numkeys should be greater than 0'} end
    first, last = 2, keys + 1
    local way = string.upper(words[last + 1] or '')
    if list then
      pop = way == 'LEFT' and 'LPOP' or way == 'RIGHT' and 'RPOP'
    else
      pop = (way == 'MIN' or way == 'MAX') and 'ZPOP' .. way
    end
    if not pop then return syntax end
    local option, count = words[last + 2], words[last + 3]
    if option then
      if string.upper(option) ~= 'COUNT' or not count then return syntax end
      most = whole(count)
      if not most or most < 1 then return {err = 'ERR count should be greater than 0'} end
      if words[last + 4] then return syntax end
    end
  elseif given > 1 then
    return syntax
  elseif given == 1 then
    most = whole(words[2])
    if not most or most < 0 then return {err = 'ERR value is out of range, must be positive'} end
  end
  for i = first, last do check(words[i]) end
  for i = first, last do
    local key = words[i]
    local size = raw(list and 'LLEN' or 'ZCARD', key)
    if type(size) ~= 'number' then return size end
    size = math.min(most, size)
    if size > 0 then
      if size > (list and 500 or 250) then refuse(seldom().tooLarge) end
      takes(size / 8)
      record(key)
      local r = raw(pop, key, string.format('%d', size))
      if r.err then return r end
      its.wrote = true
      if not several then return r end
      if list then return {key, r} end
      local scored = {}
      for j = 1, size do scored[j] = {r[2 * j - 1], r[2 * j]} end
      return {key, scored}
    end
  end
  return not several and {}
elseif n == 'HSCAN' or n == 'SSCAN' or n == 'ZSCAN' then
  -- A cursor is a place in the order of the elements' hashes, which all masters know alike: so
  -- each element that is there all the time is told once, whatever comes and goes meanwhile.
  if k ~= K[1] then check(k) end
  local options, each = {...}, n == 'SSCAN' and 1 or 2
  local cursor, most, pattern = text(options[1]), 10, nil
  if #options ~= given or type(cursor) ~= 'string' then return raw(n, k, ...) end
  -- It ends at a zero byte, as to C.
  cursor = string.match(cursor, '^[^%z]*')
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

  -- A page is what is in a part of the order that will have so many; the rest, if there are no more in all.
  most = math.min(math.max(most, 128), 500 / each)
  local to = 2^48
  if size > most then to = math.min(from + math.ceil(to / size * most), to) end

  -- elements are those of the page that the pattern matches, if there is one, with their places.
  local tries, stars = 0, 0
  local function elements(pattern)
    local at, list, there = '0', {}, {}
    repeat
      local r = pattern and raw(n, k, at, 'COUNT', '4096', 'MATCH', pattern) or raw(n, k, at, 'COUNT', '4096')
      if r.err then return r end
      at, r = r[1], r[2]
      for i = 1, #r, each do
        local name = r[i]
        local p = place(name)
        tries = tries + (#name) ^ stars
        if p >= from and p < to and there[p] ~= name then
          there[p] = name
          list[#list + 1] = {p, name, r[i + 1]}
        end
      end
    until at == '0'
    return list
  end

  if type(pattern) == 'string' then
    if #pattern > 1024 then refuse('a pattern is longer than 1024 bytes') end
    local _, all = string.gsub(pattern, '%*+', '')
    stars = string.sub(pattern, -1) == '*' and all - 1 or all
  end
  local list = elements(stars == 0 and pattern or nil)
  if not list.err and stars > 0 then
    -- Old masters try all that each star may stand for, and do nothing else meanwhile.
    tries = tries * #pattern
    if not (tries <= 4194304) then refuse('a pattern with stars in front of its end takes a master too long here') end
    takes(tries / 2048 + size / 2)
    list = elements(pattern)
  end
  if list.err then return list end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  local page, bytes = {}, 0
  for i = 1, #list do
    local e = list[i]
    if (i > 500 / each or bytes > 1048576) and list[i - 1][1] ~= e[1] then
      to = e[1]
      break
    end
    bytes = bytes + #e[2] + (each == 2 and #e[3] or 0)
    page[#page + 1] = e[2]
    if each == 2 then page[#page + 1] = e[3] end
  end
  return {to < 2^48 and string.format('%.0f', to) or '0', page}
elseif (n == 'OBJECT' or n == 'MEMORY') and given > 0 then
  local key, options = ..., {select(2, ...)}
  local what = string.upper(k)
  if n == 'MEMORY' and what == 'USAGE' then
    check(key)
    local most
    for i = 1, given - 1, 2 do
      if string.upper(tostring(options[i])) ~= 'SAMPLES' or i == given - 1 then return syntax end
      most = whole(options[i + 1])
      if not most then return notWhole end
      if most < 0 then return syntax end
    end
    if most and (most == 0 or most > 4096) then most = 4096 end
    takes((most or 0) / 8)
    local r
    if most then r = raw(n, k, key, 'SAMPLES', string.format('%.0f', most)) else r = raw(n, k, key) end
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
