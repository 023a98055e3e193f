-- sliding-window-counter, handwritten: a hash of the counts of this window and the one before.
local quota, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local start = now - now % window
local state = redis.call('HMGET', KEYS[1], 'start', 'previous', 'current')
local stored, previous, current = tonumber(state[1] or 0), tonumber(state[2] or 0), tonumber(state[3] or 0)
if stored ~= start then
    previous = stored == start - window and current or 0
    current = 0
end
local used = previous * (1 - (now - start) / window) + current
if used + 1 > quota then
    return {0, 0}
end
redis.call('HSET', KEYS[1], 'start', string.format('%.0f', start), 'previous', previous, 'current', current + 1)
redis.call('PEXPIRE', KEYS[1], 2 * window / 1000)
return {1, math.floor(quota - used - 1)}
