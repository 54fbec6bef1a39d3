-- version: 1
-- Proves that this user may read, write and expire here. KEYS[1]: a key that nobody else uses.
-- Answers 1 and leaves no key; if a command is denied half way, the key lives one second.
redis.call('SET', KEYS[1], '1', 'PX', 1000)
local value = redis.call('GET', KEYS[1])
local ttl = redis.call('PTTL', KEYS[1])
redis.call('DEL', KEYS[1])
if value == '1' and ttl > 0 and ttl <= 1000 then
  return 1
end
return 0
