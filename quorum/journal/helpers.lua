-- What a client's script has in the place of Lua's functions and of Redis. The script is
-- not the client's text: that was read, and what runs was printed from what was read. It can
-- name nothing but what is here, and what its bounds are is kept here:
--
--   * It has so many steps. A loop's turn and a function's call take one and more, and so
--     does whatever costs what its arguments decide, before it is done.
--   * It makes so many bytes in all, of strings. They are counted and not asked of Lua's
--     collector, whose figure is the whole master's and differs between masters.
--   * It reads no string, and is given none, that is longer than a bound.
--   * What it may have Lua look up slowly is counted. A client can think of keys that collide
--     in a table, and of strings that do where Lua keeps all strings: then each costs all
--     those before it. So the many cost more each than the few.
--
-- A spent script raises at every further step, so that no pcall outlives it, and all
-- masters count alike.
--
-- Each section stands under the name of what it makes in h, and behind that are the
-- sections which it needs. Only what a script names is made at a call. They are put into the
-- prelude where that says "what it knows", and see its locals.

--- bounds
local room = memory

-- interned is how many strings were made, or values given. Each string is compared with those
-- that it collides with.
local interned = 0

-- made counts n bytes that are about to be made, in one string or so many.
local function made(n, strings)
  room = room - n
  if not (room >= 0) then refuse('the script makes more than ' .. memory .. ' bytes (script-memory)') end
  strings = strings or 1
  if interned + strings > 255 then spend(strings * (interned + strings / 2) / 1024) end
  interned = interned + strings
end

-- read counts what is looked at whole, if it is a string, and is its length. Of a number
-- that is taken for a string, one is made.
local function read(v)
  if type(v) ~= 'string' then
    if type(v) == 'number' then made(0, 1) end
    return 24
  end
  local n = #v
  if n > 255 then
    if n > longest then refuse('the script reads a string of ' .. n .. ' bytes, more than ' .. longest) end
    spend(math.floor(n / 256))
  end
  return n
end

--- counted
-- held is how many elements tables were given by the script, gone how many were taken out of
-- them in the place of which none came yet, dead how many in all, and named how many keys
-- that may collide each table has.
local held, gone, dead, named = 64 + #keys + #argv, 0, 0, nil

--- numeral
-- numeral takes the steps of making a number of a string.
local function numeral(v)
  if type(v) == 'string' then spend(0.25 + read(v) / 128) end
end

--- whole: numeral
-- whole is v where a function of Lua's takes an integer, which is to be within 32 bits:
-- some take no more, and drop the rest of one.
local function whole(v, otherwise)
  if v == nil then return otherwise end
  numeral(v)
  local n = tonumber(v)
  if not n then error('bad argument (number expected, got ' .. type(v) .. ')') end
  if n ~= n then return 0 end
  n = math.max(-2147483647, math.min(2147483647, n))
  return n < 0 and math.ceil(n) or math.floor(n)
end

--- plenty: counted
-- plenty counts values that are handed on, and may become elements of a table.
local function plenty(n, what)
  if n > 1000 then refuse('the script ' .. what .. ' more than 1000 values') end
  if n > 7 then
    spend(n / 32)
    held = held + n
  end
end

--- doubled
-- doubled refuses a table that has an element under such a large number and one under its
-- double, which may be for this alone: where Lua, to know how long a table is, has found an
-- element under one, two, four times a number and so on up to the largest, it counts them all
-- instead, each time.
local function doubled(t, k)
  if k >= 536870912 and k < 2147483648 and (t[2 * k] ~= nil or t[k / 2] ~= nil) then
    refuse('the script has elements of one table under ' .. k .. ' and under the double or the half of it')
  end
end

--- keyed: counted doubled
-- keyed counts n keys like this one that a table has more. They may collide with each other,
-- but for whole numbers that are not large: of these too few can to matter.
local function keyed(t, k, n)
  local kind = type(k)
  if kind ~= 'string' and (kind ~= 'number' or k <= 32768 and k >= -32768 and k % 1 == 0) then return end
  if kind == 'number' then doubled(t, k) end
  named = named or {}
  local all = named[t] or 0
  named[t] = all + n
  if all + n > 32 then spend(n * (all + n / 2) / 80) end
end

--- entered: keyed
-- entered counts an element that a table is about to be given under a key that it does not
-- have. Where another one was taken out before, Lua may go through all of the table to find
-- room for it.
local function entered(t, k)
  held = held + 1
  if gone > 0 then
    gone = gone - 1
    spend((held + interned) / 128)
  end
  keyed(t, k, 1)
end

--- put: entered
-- put is t[k] = v. Of a nil where there was none nothing is to be seen but how Lua keeps the
-- others, and where it has a table end that has holes. It makes room for it as for any value, each
-- time: so that is left to it while there is little that it could go through. Some keys raise.
local function put(t, k, v)
  if type(t) ~= 'table' then error('attempt to index a ' .. type(t) .. ' value') end
  if k ~= nil then
    if t[k] ~= nil then
      if v == nil then gone, dead = gone + 1, dead + 1 end
    elseif v ~= nil then
      entered(t, k)
    elseif k == k then
      local all = (held + interned) / 128
      if all > 1 then return end
      spend(all)
    end
  end
  t[k] = v
end

--- set: put
h.set = put

-- sets is an assignment to several, of which kinds says what each is: a field, whose table and
-- key come before the values, or a local, whose value is given back.
--- sets: put
h.sets = function(kinds, ...)
  local all, values, locals = {...}, 0, 0
  spend(0.5)
  for i = 1, #kinds do
    if string.sub(kinds, i, i) == 't' then values = values + 2 else locals = locals + 1 end
  end
  local given, pair, at = {}, values, locals
  for i = #kinds, 1, -1 do
    if string.sub(kinds, i, i) == 't' then
      put(all[pair - 1], all[pair], all[values + i])
      pair = pair - 2
    else
      given[at], at = all[values + i], at - 1
    end
  end
  return unpack(given, 1, locals)
end

-- table counts a constructor of n fields, of which m have keys that it says.
--- table: keyed
h.table = function(n, m, t)
  held = held + n
  if m > 0 then
    keyed(t, '', m)
    for k in pairs(t) do
      if type(k) == 'number' then doubled(t, k) end
    end
  end
  return t
end

--- walked: keyed
-- walked counts what was unpacked, which may be as a client thought of it.
local function walked(v)
  if type(v) ~= 'table' then return end
  for k, e in pairs(v) do
    keyed(v, k, 1)
    walked(e)
  end
end

--- empty: counted
-- empty takes the steps of going through a table, beyond those for what is in it: much may
-- have been.
local function empty(n)
  spend(n + dead / 2048 + (held + interned) / 16384)
end

-- back is behind a call that is to be one, and not in the place of its caller: that says where
-- in the script an error is.
--- back
local function back(...) return ... end
--- values: back
h.values = back

--- commands
-- bounding has what commands need that are long, or read much, and is made by the first.
local bounds
bounding = function()
  if bounds then return bounds end
  bounds = {}

  -- what counts

  function bounds.weighed(...)
    local all, n = {...}, select('#', ...)
    -- A field may be looked for among all of a hash that is small, and others among fewer.
    spend(string.find(all[1], '^[Hh]') and 2 * n or n)
    for i = 3, n do
      local v = all[i]
      if type(v) == 'string' and #v > 255 then spend(math.floor(#v / 256)) end
    end
  end

  -- fetched is how many strings were counted before they come.
  local fetched = 0

  local function got(r)
    if type(r) == 'string' then
      made(read(r), 0)
    elseif type(r) == 'table' then
      local n = #r
      -- None of these is an array, and so none of what is in them would be counted.
      if n == 0 and (r.map or r.set or r.double or r.big_number or r.verbatim_string) then
        refuse('the script is given a reply of a type that this proxy does not know')
      end
      if n > 7 then spend(n / 8) end
      made(0, math.max(n - fetched, 0))
      fetched = 0
      for i = 1, n do got(r[i]) end
    end
  end
  bounds.got = got

  function bounds.read(n, k, ...)
    if n == 'MGET' then
      local keys, all = {k, ...}, {}
      for i = 1, 1 + select('#', ...) do
        spend(1)
        local v = command('GET', keys[i])
        if type(v) == 'table' and not string.find(v.err, '^WRONGTYPE') then return v end
        all[i] = type(v) == 'string' and v
        got(all[i])
      end
      return all
    elseif n == 'HMGET' then
      local sum = 0
      local fields = {...}
      for i = 1, select('#', ...) do
        spend(1)
        local size = raw('HSTRLEN', k, fields[i])
        if type(size) == 'number' then sum = sum + size end
      end
      made(sum)
    else
      bounds.looked(n, k, ...)
    end
    return raw(n, k, ...)
  end

  -- looked counts what reads all of a key, or searches it.
  function bounds.looked(n, k, ...)
    local of = string.sub(n, 1, 1)
    local count = raw(n == 'SMEMBERS' and 'SCARD' or of == 'H' and 'HLEN' or of == 'Z' and 'ZCARD' or 'LLEN', k)
    if type(count) == 'number' and count > 16 then
      if count > 10000 then refuse('the script reads a key of ' .. count .. ' elements, more than 10000') end
      spend(count / 64)
      if count > 500 then
        -- So many strings there will be, at most.
        count = seldom().ranged(n, k, count, ...)
        made(0, count)
        fetched = count
      end
      local size = raw('MEMORY', 'USAGE', k, 'SAMPLES', '0')
      if type(size) == 'number' and size > 4194304 then refuse('the script reads a key of more than 4194304 bytes') end
    end
  end

  return bounds
end

--- error_reply
local function error_reply(...)
  local r = R.error_reply(...)
  if type(r) == 'table' and r.err == (...) and not string.find(r.err, ' ', 1, true) then r.err = 'ERR ' .. r.err end
  return r
end

--- redis_call: commands
h.redis_call = call
--- redis_pcall: commands
h.redis_pcall = asked

--- redis_error_reply: error_reply
h.redis_error_reply = function(...)
  made(read((...)))
  return error_reply(...)
end

--- redis_status_reply
h.redis_status_reply = function(...)
  made(read((...)))
  return R.status_reply(...)
end

--- redis_sha1hex
h.redis_sha1hex = function(...)
  read((...))
  made(40)
  return R.sha1hex(...)
end

--- redis_replicate_commands
h.redis_replicate_commands = R.replicate_commands

-- What would act on the master beyond this call does nothing, and nothing that a script has
-- chosen is handed on for Redis to refuse: where that takes an integer, it takes what is no
-- number for 0, which is REPL_NONE, and drops what is behind the point. So what it would
-- refuse is refused here, in its words; without arguments it says itself how many there are to be.
--- nothing: numeral
local function nothing(name, least, most, otherwise)
  return function(...)
    spend(2)
    numeral((...))
    local count, n = select('#', ...), tonumber((...))
    if name == 'log' and count < 2 or name ~= 'log' and count ~= 1 then return R[name]() end
    if not n and name == 'log' then error({err = 'ERR First argument must be a number (log level).'}, 0) end
    n = n or 0
    n = n < 0 and math.ceil(n) or math.floor(n)
    if not (n >= least and n <= most) then error({err = 'ERR ' .. otherwise}, 0) end
  end
end
--- redis_log: nothing
h.redis_log = nothing('log', 0, 3, 'Invalid debug level.')
--- redis_set_repl: nothing
h.redis_set_repl = nothing('set_repl', 0, 3, 'Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.')
--- redis_setresp: nothing
h.redis_setresp = nothing('setresp', 2, 3, 'RESP version must be 2 or 3.')

--- redis_LOG_DEBUG
h.redis_LOG_DEBUG = R.LOG_DEBUG
--- redis_LOG_VERBOSE
h.redis_LOG_VERBOSE = R.LOG_VERBOSE
--- redis_LOG_NOTICE
h.redis_LOG_NOTICE = R.LOG_NOTICE
--- redis_LOG_WARNING
h.redis_LOG_WARNING = R.LOG_WARNING
--- redis_REPL_ALL
h.redis_REPL_ALL = R.REPL_ALL
--- redis_REPL_AOF
h.redis_REPL_AOF = R.REPL_AOF
--- redis_REPL_SLAVE
h.redis_REPL_SLAVE = R.REPL_SLAVE
--- redis_REPL_REPLICA
h.redis_REPL_REPLICA = R.REPL_REPLICA
--- redis_REPL_NONE
h.redis_REPL_NONE = R.REPL_NONE
--- redis_REDIS_VERSION
h.redis_REDIS_VERSION = R.REDIS_VERSION
--- redis_REDIS_VERSION_NUM
h.redis_REDIS_VERSION_NUM = R.REDIS_VERSION_NUM

-- What Lua itself does with values, where those may be strings.
--- number
h.number = function(v)
  if type(v) == 'string' then spend(0.25 + read(v) / 128) end
  return v
end

--- compared
local function compared(a, b)
  spend((read(a) + read(b)) / 1024)
end

--- less: compared
h.less = function(a, b)
  if type(a) == 'string' then compared(a, b) end
  return a < b
end

--- lessequal: compared
h.lessequal = function(a, b)
  if type(a) == 'string' then compared(a, b) end
  return a <= b
end

--- greater: compared
h.greater = function(a, b)
  if type(a) == 'string' then compared(a, b) end
  return a > b
end

--- greaterequal: compared
h.greaterequal = function(a, b)
  if type(a) == 'string' then compared(a, b) end
  return a >= b
end

--- join
h.join = function(a, b, ...)
  local s, n = type(a), type(b)
  if select('#', ...) == 0 and (s == 'string' or s == 'number') and (n == 'string' or n == 'number') then
    if s ~= n then
      made(0, 1)
      spend(0.125)
    end
    made((s == 'string' and #a or 24) + (n == 'string' and #b or 24))
    return a .. b
  end
  local all, sum, count = {a, b, ...}, 0, 2 + select('#', ...)
  for i = 1, count do
    local v = all[i]
    if type(v) ~= 'string' and type(v) ~= 'number' then error('attempt to concatenate a ' .. type(v) .. ' value') end
    sum = sum + (type(v) == 'string' and #v or 24)
    if type(v) == 'number' then
      made(0, 1)
      spend(0.125)
    end
  end
  made(sum)
  return table.concat(all)
end

--- varargs: plenty
h.varargs = function(...)
  plenty(select('#', ...), 'hands on')
  return ...
end

-- strings makes what a string's own functions are, once one is asked for that was not
-- named.
--- index: strings
h.index = function(value, k)
  if type(value) ~= 'string' then return value[k] end
  if type(k) ~= 'string' or not string[k] then return nil end
  if k == 'gfind' or k == 'dump' then return nil end
  spend(0.125)
  if not h['string_' .. k] then strings() end
  return h['string_' .. k]
end

--- method: strings back
h.method = function(value, name, ...)
  if type(value) ~= 'string' then return value[name](value, ...) end
  if not h['string_' .. name] then strings() end
  return back(h['string_' .. name](value, ...))
end

--- global
h.global = function(name)
  made(64 + #name)
  error("Script attempted to access nonexistent global variable '" .. name .. "'")
end
--- setglobal
h.setglobal = function()
  error('Attempt to modify a readonly table')
end

--- type
h.type = type
--- ipairs
h.ipairs = ipairs

--- following: empty
local function following(t, k)
  empty(0.5)
  return next(t, k)
end

--- pairs: following
h.pairs = function(...)
  spend(1)
  local _, t = pairs(...)
  return following, t, nil
end

--- next: empty
h.next = function(...)
  empty(1)
  return next(...)
end

--- select: numeral
h.select = function(n, ...)
  numeral(n)
  local count = select('#', ...)
  if count > 31 then spend(math.floor(count / 32)) end
  return select(n, ...)
end

--- tonumber: numeral
h.tonumber = function(...)
  local v, base = ...
  numeral(v)
  if base then numeral(base) end
  return tonumber(...)
end

-- Addresses differ between masters.
--- tostring
h.tostring = function(...)
  local v = ...
  local t = type(v)
  if t == 'number' then made(24) end
  if t == 'table' or t == 'function' or t == 'userdata' then return t .. ': 0x0' end
  return tostring(...)
end

--- unpack: whole plenty
h.unpack = function(t, i, j)
  if type(t) == 'table' then
    i, j = whole(i, 1), whole(j, #t)
    if j >= i then plenty(j - i + 1, 'unpacks') end
  end
  return unpack(t, i, j)
end

--- error: whole
h.error = function(e, level)
  if type(e) == 'string' then made(64 + read(e)) end
  level = whole(level, 1)
  error(e, level > 0 and level + 1 or 0)
end

--- assert
h.assert = function(...)
  local v, m = ...
  if not v and m then made(64 + read(m)) end
  return assert(...)
end

-- An error is put where the script was while that can still be told, and then goes through
-- the master's own pcall, which may have a way with it.
--- caught
local function caught(ok, ...)
  if ok then return ok, ... end
  return pcall(error, (...), 0)
end
--- pcall: caught
h.pcall = function(...)
  local n, all = select('#', ...), {...}
  local f = all[1]
  spend(8)
  if n == 0 then return pcall() end
  return caught(xpcall(function() return f(unpack(all, 2, n)) end, function(e)
    return type(e) == 'string' and seldom().placed(e, seldom().line(1)) or e
  end))
end

-- guarded is a function of numbers, or strings that are ones.
--- guarded: numeral
local function guarded(f, cost)
  return function(...)
    local a, b = ...
    if type(a) == 'string' or type(b) == 'string' or select('#', ...) > 2 then
      local all, n = {...}, select('#', ...)
      spend(n / 2)
      for i = 1, n do numeral(all[i]) end
    end
    if cost then spend(cost) end
    return f(...)
  end
end
--- math_pi
h.math_pi = math.pi
--- math_huge
h.math_huge = math.huge
--- math_fmod: guarded
h.math_fmod = guarded(math.fmod, 4)
--- math_mod: guarded
h.math_mod = guarded(math.fmod, 4)
--- math_abs: guarded
h.math_abs = guarded(math.abs)
--- math_acos: guarded
h.math_acos = guarded(math.acos)
--- math_asin: guarded
h.math_asin = guarded(math.asin)
--- math_atan: guarded
h.math_atan = guarded(math.atan)
--- math_atan2: guarded
h.math_atan2 = guarded(math.atan2)
--- math_ceil: guarded
h.math_ceil = guarded(math.ceil)
--- math_cos: guarded
h.math_cos = guarded(math.cos)
--- math_cosh: guarded
h.math_cosh = guarded(math.cosh)
--- math_deg: guarded
h.math_deg = guarded(math.deg)
--- math_exp: guarded
h.math_exp = guarded(math.exp)
--- math_floor: guarded
h.math_floor = guarded(math.floor)
--- math_frexp: guarded
h.math_frexp = guarded(math.frexp)
--- math_ldexp: guarded
h.math_ldexp = guarded(math.ldexp)
--- math_log: guarded
h.math_log = guarded(math.log)
--- math_log10: guarded
h.math_log10 = guarded(math.log10)
--- math_max: guarded
h.math_max = guarded(math.max)
--- math_min: guarded
h.math_min = guarded(math.min)
--- math_modf: guarded
h.math_modf = guarded(math.modf)
--- math_pow: guarded
h.math_pow = guarded(math.pow)
--- math_rad: guarded
h.math_rad = guarded(math.rad)
-- What a master draws hangs on what it has drawn before, and each has drawn something else: so all begin
-- anew, by the time that they are given, until the script says by what.
--- math_random: guarded
math.randomseed(((tonumber(A[1]) or 0) * 1000003 + (tonumber(A[2]) or 0)) % 2147483647)
h.math_random = guarded(math.random)
--- math_randomseed: guarded
h.math_randomseed = guarded(math.randomseed)
--- math_sin: guarded
h.math_sin = guarded(math.sin)
--- math_sinh: guarded
h.math_sinh = guarded(math.sinh)
--- math_sqrt: guarded
h.math_sqrt = guarded(math.sqrt)
--- math_tan: guarded
h.math_tan = guarded(math.tan)
--- math_tanh: guarded
h.math_tanh = guarded(math.tanh)
--- bit_tobit: guarded
h.bit_tobit = guarded(bit.tobit)
--- bit_bnot: guarded
h.bit_bnot = guarded(bit.bnot)
--- bit_band: guarded
h.bit_band = guarded(bit.band)
--- bit_bor: guarded
h.bit_bor = guarded(bit.bor)
--- bit_bxor: guarded
h.bit_bxor = guarded(bit.bxor)
--- bit_lshift: guarded
h.bit_lshift = guarded(bit.lshift)
--- bit_rshift: guarded
h.bit_rshift = guarded(bit.rshift)
--- bit_arshift: guarded
h.bit_arshift = guarded(bit.arshift)
--- bit_rol: guarded
h.bit_rol = guarded(bit.rol)
--- bit_ror: guarded
h.bit_ror = guarded(bit.ror)
--- bit_bswap: guarded
h.bit_bswap = guarded(bit.bswap)
--- bit_tohex: whole
h.bit_tohex = function(x, n)
  numeral(x)
  made(8)
  if n == nil then return bit.tohex(x) end
  return bit.tohex(x, math.max(-8, math.min(8, whole(n, 8))))
end

--- string_len
h.string_len = function(...)
  if type((...)) == 'number' then made(24) end
  return string.len(...)
end

--- string_byte: whole plenty
h.string_byte = function(s, i, j)
  local n = read(s)
  i = whole(i, 1)
  j = whole(j, i)
  local first, last = i < 0 and math.max(n + i + 1, 1) or math.max(i, 1), j < 0 and n + j + 1 or math.min(j, n)
  if last >= first then plenty(last - first + 1, 'takes') end
  return string.byte(s, first, last)
end

--- string_char: plenty numeral
h.string_char = function(...)
  local n = select('#', ...)
  made(n)
  plenty(n, 'hands on')
  local all = {...}
  for i = 1, n do numeral(all[i]) end
  return string.char(...)
end

--- string_sub: whole
h.string_sub = function(s, i, j)
  read(s)
  local r = string.sub(s, whole(i), whole(j, -1))
  made(#r)
  return r
end

--- string_lower
h.string_lower = function(...)
  made(read((...)))
  return string.lower(...)
end
--- string_upper
h.string_upper = function(...)
  made(read((...)))
  return string.upper(...)
end
--- string_reverse
h.string_reverse = function(...)
  made(read((...)))
  return string.reverse(...)
end

--- string_rep: whole
h.string_rep = function(s, n)
  local l, c = read(s), whole(n)
  if c and c > 0 then made(l * c) spend(c / 256) end
  return string.rep(s, c)
end

--- string_format
h.string_format = function(...)
  local sum, n = 0, select('#', ...)
  local all = {...}
  local f = all[1]
  local spelled = type(f) == 'string' and string.find(f, '[sq]')
  for i = 1, n do sum = sum + ((spelled or type(all[i]) == 'string') and read(all[i]) or 24) end
  made(sum)
  spend(1 + n / 4)
  local r = string.format(...)
  if #r > sum then
    made(#r - sum, 0)
    spend((#r - sum) / 64)
  end
  return r
end

-- pattern takes the steps of a search. A quantifier may be tried in as many ways as the
-- subject is long, but for the last item of a pattern, which matches at once. by is who
-- searches, as the functions differ: 'find' looks for what is no pattern many bytes at a time,
-- and to 'gmatch' no pattern has an anchor.
--- pattern
local function pattern(s, p, by, plain)
  local n, m = read(s), read(p)
  if type(p) == 'number' then p = p .. '' end
  if type(p) ~= 'string' then return n end
  spend(0.25 + n / 512 + (plain and 0 or m / 32))
  if plain or not string.find(p, '[%^%$%*%+%?%.%(%[%%%-]') then
    spend(n * m / (by == 'find' and 4096 or 1024))
    return n
  end
  if m > 256 then refuse('the script has a pattern of ' .. m .. ' bytes, more than 256') end
  spend(m / 16)
  local ways, again, i, at = by ~= 'gmatch' and string.byte(p) == 94 and 0 or 1, 0, 1, 0
  while i <= m do
    local c = string.sub(p, i, i)
    if c == '%' then
      c = string.sub(p, i + 1, i + 1)
      if c == 'b' then ways, i = ways + 1, i + 2 end
      -- A capture that is met again may be as long as the subject, and is compared as a whole.
      if c >= '1' and c <= '9' then again = again + 1 end
      i = i + 2
    elseif c == '[' then
      -- Of a set, the first character is one of it, whatever it is.
      i = i + 1
      if string.sub(p, i, i) == '^' then i = i + 1 end
      repeat
        i = i + (string.sub(p, i, i) == '%' and 2 or 1)
      until i > m or string.sub(p, i, i) == ']'
      i = i + 1
    else
      if c == '*' or c == '+' or c == '-' or c == '?' then
        ways = ways + 1
        at = i
      end
      i = i + 1
    end
  end
  if at > 0 and string.find(string.sub(p, at + 1), '^%)*$') then ways = ways - 1 end
  spend((n + 1) ^ ways * (m + again * n / 64) / 1024)
  return n
end

-- kept counts what a match has captured.
--- kept
local function kept(...)
  local n = select('#', ...)
  local all = n > 4 and {...}
  for i = 1, n do
    local v = all and all[i]
    if not all then v = select(i, ...) end
    if type(v) == 'string' then made(#v) end
  end
  return ...
end

--- string_find: pattern kept whole
h.string_find = function(s, p, init, plain)
  pattern(s, p, 'find', plain)
  return kept(string.find(s, p, whole(init), plain))
end

--- string_match: pattern kept whole
h.string_match = function(s, p, init)
  pattern(s, p, 'match')
  return kept(string.match(s, p, whole(init)))
end

--- string_gmatch: pattern kept
h.string_gmatch = function(s, p)
  pattern(s, p, 'gmatch')
  local another, ended = string.gmatch(s, p), false
  local function found(...)
    ended = select('#', ...) == 0
    return kept(...)
  end
  return function()
    spend(0.25)
    -- Where nothing is found, or an error, all of what is left is searched again by another call.
    if ended then pattern(s, p, 'gmatch') end
    ended = true
    return found(another())
  end
end

--- string_gsub: pattern kept whole
h.string_gsub = function(s, p, r, most)
  local n, kind = pattern(s, p, 'gsub'), type(r)
  most = whole(most)
  if kind == 'string' or kind == 'number' then
    -- It is searched twice.
    pattern(s, p, 'gsub')
    local _, count = string.gsub(s, p, '', most)
    local _, captures = string.gsub(r, '%%%d', '')
    spend(read(s) / 256 + count * (1 + captures) / 32)
    made(n + count * read(r) + captures * n)
    -- A place that is captured is no part of s.
    if string.find(p, '()', 1, true) then made(8 * count * captures, 0) end
  elseif kind == 'table' then
    local all = r
    r = function(k)
      local v = all[k]
      spend(0.125)
      if v then made(read(v)) end
      return v
    end
    made(n)
  elseif kind == 'function' then
    local f = r
    r = function(...)
      spend(0.125)
      local v = f(kept(...))
      if v then made(read(v)) end
      return v
    end
    made(n)
  end
  return string.gsub(s, p, r, most)
end

--- table_getn
h.table_getn = table.getn

--- table_maxn: empty
h.table_maxn = function(t)
  if type(t) ~= 'table' then return table.maxn(t) end
  empty(0.25)
  local n = 0
  for k in pairs(t) do
    spend(0.0625)
    if type(k) == 'number' and k > n then n = k end
  end
  return n
end

--- table_foreach: empty
h.table_foreach = function(t, f)
  if type(t) ~= 'table' or type(f) ~= 'function' then return table.foreach(t, f) end
  empty(0.25)
  for k, v in pairs(t) do
    spend(1)
    local r = f(k, v)
    if r ~= nil then return r end
  end
end

--- table_foreachi
h.table_foreachi = function(t, f)
  if type(t) ~= 'table' or type(f) ~= 'function' then return table.foreachi(t, f) end
  for i = 1, #t do
    spend(1)
    local r = f(i, t[i])
    if r ~= nil then return r end
  end
end

-- length is that of a table which is moved or searched. That of a sparse one may be far more
-- than it has.
--- length
local function length(t)
  local n = #t
  if n > 10000 then refuse('the script works on a table of ' .. n .. ' elements, more than 10000') end
  return n
end

--- table_concat: length whole
h.table_concat = function(t, sep, i, j)
  if type(t) ~= 'table' then return table.concat(t, sep, i, j) end
  i, j = whole(i, 1), whole(j, #t)
  local n = j - i + 1
  if n > 10000 then refuse('the script joins ' .. n .. ' elements, more than 10000') end
  if n > 0 then
    spend(n / 5)
    local sum, numbers = sep and n * read(sep) or 0, 0
    for at = i, j do
      local v = t[at]
      sum = sum + (type(v) == 'string' and #v or 24)
      if type(v) == 'number' then numbers = numbers + 1 end
    end
    spend(numbers / 8)
    made(0, numbers)
    made(sum)
  end
  return table.concat(t, sep, i, j)
end

-- dense tells that Lua may move the elements from one place on to another: there is one at each.
-- For a nil that it moves it would make room, as put does not if there is much.
--- dense: counted
local function dense(t, from, to)
  spend((to - from) / 64)
  for i = from, to do
    if t[i] == nil then
      local few = from > 0 and held + interned <= 128
      spend((to - from) / (few and 1 or 16))
      return few
    end
  end
  return true
end

--- table_insert: length whole put dense
h.table_insert = function(...)
  local t, at, v = ...
  local count = select('#', ...)
  if count < 2 or count > 3 or type(t) ~= 'table' or count == 3 and at == nil then return table.insert(...) end
  if count == 2 then return put(t, #t + 1, at) end
  local n = length(t)
  at = whole(at)
  if at > n then return put(t, at, v) end
  if dense(t, at, n) then
    entered(t, n + 1)
    if v == nil then gone, dead = gone + 1, dead + 1 end
    return table.insert(t, at, v)
  end
  -- All is moved up by one, and that below 1 is there then, too.
  for i = n, at, -1 do
    local w = t[i]
    if w ~= nil or t[i + 1] ~= nil then put(t, i + 1, w) end
  end
  put(t, at, v)
end

--- table_remove: length whole put dense
h.table_remove = function(...)
  local t, at = ...
  if type(t) ~= 'table' then return table.remove(...) end
  local n
  if select('#', ...) < 2 then
    n = #t
    at = n
  else
    n = length(t)
    at = whole(at, n)
  end
  if at < 1 or at > n then return end
  if dense(t, at, n) then
    gone, dead = gone + 1, dead + 1
    return table.remove(t, at)
  end
  local v = t[at]
  for i = at, n - 1 do
    local w = t[i + 1]
    if w ~= nil or t[i] ~= nil then put(t, i, w) end
  end
  put(t, n, nil)
  return v
end

-- What is sorted is a copy, in which hole stands for a nil. What a comparison takes out of
-- the table itself, Lua would make room for, again and again.
--- table_sort: length compared put
h.table_sort = function(t, f)
  if type(t) ~= 'table' or f ~= nil and type(f) ~= 'function' then return table.sort(t, f) end
  local n, all, hole = length(t), {}, {}
  spend(1 + n / 16)
  for i = 1, n do
    local v = t[i]
    if v == nil then v = hole end
    all[i] = v
  end
  table.sort(all, function(a, b)
    spend(0.25)
    if a == hole then a = nil end
    if b == hole then b = nil end
    if f then return f(a, b) end
    local kind, other = type(a), type(b)
    if kind == 'string' and other == kind then
      compared(a, b)
    elseif kind ~= 'number' or other ~= kind then
      error('attempt to compare ' .. (kind == other and 'two ' .. kind .. ' values' or kind .. ' with ' .. other), 0)
    end
    return a < b
  end)
  for i = 1, n do
    local v = all[i]
    if v == hole then v = nil end
    if v ~= t[i] then put(t, i, v) end
  end
end

-- weigh takes the steps of walking a value, and is how many bytes it may make.
--- weigh: empty
local function weigh(v, depth)
  if type(v) == 'string' then return 6 * read(v) + 2 end
  if type(v) ~= 'table' then return 24 end
  if depth > 32 then refuse('the script packs tables in tables more than 32 deep') end
  local sum = 2
  empty(0.25)
  for k, e in pairs(v) do
    spend(1)
    sum = sum + weigh(k, depth + 1) + weigh(e, depth + 1)
  end
  return sum
end

--- cjson_null
h.cjson_null = cjson.null
--- cjson_encode: weigh
h.cjson_encode = function(...)
  made(weigh((...), 1))
  return cjson.encode(...)
end
--- cjson_decode: walked
h.cjson_decode = function(...)
  local n = read((...))
  spend(0.25 + n / 64)
  made(8 * n, 0)
  held = held + n / 2
  if n < 256 then
    made(0, n / 32)
    return cjson.decode(...)
  end
  local _, quotes = string.gsub((...), '"', '')
  made(0, quotes / 2)
  local v = cjson.decode(...)
  walked(v)
  return v
end
--- cmsgpack_pack: weigh plenty
h.cmsgpack_pack = function(...)
  plenty(select('#', ...), 'packs')
  local all = {...}
  for i = 1, select('#', ...) do made(weigh(all[i], 1)) end
  return cmsgpack.pack(...)
end
--- unpacked: walked
-- unpacked counts what was unpacked.
local function unpacked(...)
  local all = {...}
  for i = 1, select('#', ...) do walked(all[i]) end
  return ...
end

--- cmsgpack_unpack: unpacked
h.cmsgpack_unpack = function(...)
  local n = read((...))
  spend(0.25 + n / 64)
  made(32 * n, 0)
  made(0, n / 16)
  held = held + n
  if n > 255 then
    -- For a nil that a full table is given, Lua goes through all of it.
    local _, nils = string.gsub((...), '\192', '')
    spend(nils * n / 2048)
  end
  return unpacked(cmsgpack.unpack(...))
end

-- packing takes the steps of a format. Some masters' own arithmetic with its sizes overflows.
--- packing
local function packing(format)
  local n = read(format)
  if n > 256 then refuse('the script packs by a format of ' .. n .. ' bytes, more than 256') end
  if type(format) == 'string' and string.find(format, '%d%d%d%d%d%d') then refuse('the script packs by a format with a size of more than 99999') end
  spend(1 + math.floor(n / 16))
end
--- struct_size: packing
h.struct_size = function(...)
  packing((...))
  return struct.size(...)
end
--- struct_pack: packing
h.struct_pack = function(...)
  packing((...))
  local sum = 16384
  for i = 2, select('#', ...) do sum = sum + read((select(i, ...))) end
  made(sum)
  return struct.pack(...)
end
--- struct_unpack: packing kept whole
h.struct_unpack = function(format, s, at)
  packing(format)
  local n = read(s)
  at = whole(at, 1)
  if at < 1 or at > n + 1 then refuse('the script unpacks from ' .. at .. ' of ' .. n .. ' bytes') end
  return kept(struct.unpack(format, s, at))
end
