-- version: 1
-- Admits at most so many calls in a fixed window, which begins with its first call.
-- KEYS[1]: the counter. ARGV: calls, window in ms, time to live in ms (the window and a jitter).
-- Its value is "<begin of the window, ms of Redis' clock> <calls admitted>". It is written together
-- with its time to live by one SET, so no error and no crash leaves it without one. A value of any
-- other form counts as none. If the clock steps back, the window begins anew with its calls kept:
-- that frees nobody and makes nobody wait for more than one window.
-- Answers {1 admitted or 0 denied, remaining calls, ms until a denied call is admitted, ms of
-- Redis' clock at which the window ends}.
local calls, window, ttl = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' and string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
  return value
end
local begin, count = nil, nil
if type(value) == 'string' and #value <= 32 then
  begin, count = string.match(value, '^(%d+) (%d+)$')
  begin, count = tonumber(begin), tonumber(count)
end
if begin == nil or now >= begin + window then
  begin, count = now, 0
end
local is_written = now < begin
begin = math.min(begin, now)
local is_admitted = count < calls
if is_admitted then
  count = count + 1
  is_written = true
end
local life = begin + ttl - now
if not is_written then
  local left = redis.call('PTTL', KEYS[1])
  is_written = left < 0 or left > life
end
if is_written then
  redis.call('SET', KEYS[1], string.format('%.0f %.0f', begin, count), 'PX', life)
end
local wait = 0
if not is_admitted then
  wait = begin + window - now
end
return {is_admitted and 1 or 0, math.max(calls - count, 0), wait, begin + window}
