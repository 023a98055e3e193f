-- leaky-bucket and token-bucket, handwritten: the time at which the bucket will be empty.
local quota, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval = window / quota
local empty = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0)) + interval
if empty - now > window then
    return {0, 0}
end
redis.call('SET', KEYS[1], string.format('%.0f', empty), 'PX', math.ceil((empty - now) / 1000))
return {1, math.floor((window - (empty - now)) / interval)}
