-- fixed-window and first-request-window, handwritten: one counter that expires.
local quota, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local used = redis.call('INCR', KEYS[1])
if used == 1 then
    redis.call('PEXPIRE', KEYS[1], window / 1000)
end
return {used <= quota and 1 or 0, math.max(0, quota - used)}
