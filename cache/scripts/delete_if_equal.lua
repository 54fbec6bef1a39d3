-- version: 1
-- Deletes what a reader has found bad, unless it has changed meanwhile. KEYS[1]: the key.
-- ARGV[1], what was found, and ARGV[2]:
--   equal      a string of exactly these bytes
--   longer     a string of more bytes than this number
--   no_string  a value of another type
-- Answers 1 when it deleted something, else 0.
local found = ARGV[1]
local length = redis.pcall('STRLEN', KEYS[1])
local is_bad = false
if type(length) == 'table' then
  if string.sub(length.err, 1, 9) ~= 'WRONGTYPE' then
    return length
  end
  is_bad = found == 'no_string'
elseif found == 'longer' then
  is_bad = length > tonumber(ARGV[2])
elseif found == 'equal' then
  is_bad = length == #ARGV[2] and redis.call('GET', KEYS[1]) == ARGV[2]
end
if is_bad then
  return redis.call('DEL', KEYS[1])
end
return 0
