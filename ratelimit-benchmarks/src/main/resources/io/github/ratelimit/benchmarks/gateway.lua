-- The algorithm of Spring Cloud Gateway: tokens, and the second in which they were counted last, each in a key.
local rate, burst, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now = tonumber(redis.call('TIME')[1])
local tokens = tonumber(redis.call('GET', KEYS[1])) or burst
local counted = tonumber(redis.call('GET', KEYS[2])) or 0
tokens = math.min(burst, tokens + math.max(0, now - counted) * rate)
local allowed = tokens >= cost
if allowed then
    tokens = tokens - cost
end
local ttl = math.floor(2 * burst / rate)
if ttl > 0 then
    redis.call('SETEX', KEYS[1], ttl, tokens)
    redis.call('SETEX', KEYS[2], ttl, now)
end
return {allowed and 1 or 0, tokens}
