-- sliding-window, handwritten: a hash of the counts of sub-windows, sixty to a window.
local quota, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local precision = window / 60
local present = math.floor(now / precision)
local counts = redis.call('HGETALL', KEYS[1])
local used = 0
for c = 1, #counts, 2 do
    if tonumber(counts[c]) < present - 60 then
        redis.call('HDEL', KEYS[1], counts[c])
    else
        used = used + counts[c + 1]
    end
end
if used >= quota then
    return {0, 0}
end
redis.call('HINCRBY', KEYS[1], string.format('%.0f', present), 1)
redis.call('PEXPIRE', KEYS[1], (window + precision) / 1000)
return {1, quota - used - 1}
