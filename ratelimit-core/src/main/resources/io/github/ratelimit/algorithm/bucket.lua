-- leaky-bucket and token-bucket: for each limit a bucket that drains evenly, a quota in a window.
--
-- Constants: BURST (size of the bucket, 0 if that is the quota).
-- State, 11 bytes for each limit: the time at which the bucket will be empty, in microseconds (7 bytes) and parts of a
-- microsecond, of which there are as many as the quota (4 bytes). So no rounding mints quota or loses it. Where a size
-- of its own makes that time depend on the quota, the quota stands behind it (4 bytes). Where it does not, the time of a
-- single bucket that is in no part of a microsecond is written as 16 digits, which Redis keeps as a number in place.
-- While a quota is 0 its bucket is left as it was, by the quota that it had, and goes on to drain. Of buckets that were
-- charged until one is more than full, at most twice, the time of the last change stands at the end (7 bytes), because
-- otherwise it would look as if the clock had been set back.
--
-- @slot charged
-- @limit empty, part, rate

--- functions
-- Times of 16 digits are those from 2001 to 2286.
local FIRST, END = 10 ^ 15, 10 ^ 16

-- Time that a cost takes to drain: microseconds and parts of one.
local function draining(cost, window, quota)
    local over = window % quota
    local rest = cost * over
    local rest_part = rest % quota
    return cost * ((window - over) / quota) + (rest - rest_part) / quota, rest_part
end

-- Time after which a bucket is empty that is full now so many times, 1 or 2.
local function fullness(size, window, quota, times)
    -- A bucket as large as its quota takes a window, whatever the quota was.
    local full, full_part = window, 0
    if quota > 0 and size ~= quota then
        full, full_part = draining(size, window, quota)
    end
    if times > 1 then
        full, full_part = 2 * full, 2 * full_part
        if full_part > 0 and full_part >= quota then
            full, full_part = full + 1, full_part - quota
        end
    end
    return full, full_part
end

local function is_more(one, one_part, other, other_part)
    return one > other or (one == other and one_part > other_part)
end

-- Adds to a bucket. It becomes no more than full so many times, or than it was before.
local function fill(empty, part, cost, size, window, quota, now, times)
    local time, time_part = draining(cost < size and cost or size, window, quota)
    local full, full_part = fullness(size, window, quota, times)
    local filled, filled_part = empty + time, part + time_part
    if filled_part >= quota then
        filled, filled_part = filled + 1, filled_part - quota
    end
    if is_more(filled, filled_part, now + full, full_part) then
        if is_more(empty, part, now + full, full_part) then
            return empty, part
        end
        return now + full, full_part
    end
    return filled, filled_part
end

local function wait_for(cost, empty, part, size, window, quota, now)
    local room, room_part = draining(size - cost, window, quota)
    local left = empty - now - room
    if part > room_part then
        left = left + 1
    end
    return left > 0 and left or 0
end

--- load
each(empty, part, rate) = each(now, 0, QUOTA)
charged = false
local size, stored = state and #state, true
--[if BURST]
local width = 15 * LIMITS
if size == width or size == width + 7 then
    each(empty, part, rate) = struct.unpack('>each(I7I4I4)', state)
--[else]
local width = 11 * LIMITS
local digits = size == 16 and LIMITS == 1 and tonumber(state)
if digits and digits >= FIRST and digits < END then
    each(empty) = each(digits - digits % 1)
elseif size == width or size == width + 7 then
    each(empty, part) = struct.unpack('>each(I7I4)', state)
--[end]
else
    stored = false
end
if size == width + 7 then
    -- If the clock was set back since, nobody knows how much more than full it is.
    charged = struct.unpack('>I7', state, width + 1) <= now
end
if stored then
--[each limit]
--[if BURST]
    if rate < 1 then
        rate = 1
    end
    local bucket = BURST
--[else]
    local bucket = QUOTA
--[end]
    if part >= rate and rate > 0 then
        part = rate - 1
    end
    if empty < now then
        empty, part = now, 0
    else
        local full, full_part = fullness(bucket, WINDOW, rate, charged and 2 or 1)
        if is_more(empty, part, now + full, full_part) then
            -- The clock was set back.
            empty, part = now + full, full_part
            corrected = true
        end
    end
--[if BURST]
    if QUOTA > 0 and rate ~= QUOTA then
        -- Makes of the time at another quota the time that the same cost takes at this.
        local time = empty - now
        local over = time % QUOTA
        local rest = over * rate + part
        part = rest % QUOTA
        empty = now + (time - over) / QUOTA * rate + (rest - part) / QUOTA
        rate = QUOTA
        corrected = true
    end
--[end]
--[end]
end

--- wait
--[if BURST]
wait = wait_for(cost, empty, part, BURST, WINDOW, QUOTA, now)
--[else]
wait = wait_for(cost, empty, part, QUOTA, WINDOW, QUOTA, now)
--[end]

--- add
--[each limit]
if QUOTA > 0 then
--[if BURST]
    empty, part = fill(empty, part, cost, BURST, WINDOW, rate, now, 1)
--[else]
    empty, part = fill(empty, part, cost, QUOTA, WINDOW, QUOTA, now, 1)
--[end]
end
--[end]

--- charge
charged = true
--[each limit]
if QUOTA > 0 then
--[if BURST]
    empty, part = fill(empty, part, cost, BURST, WINDOW, rate, now, 2)
--[else]
    empty, part = fill(empty, part, cost, QUOTA, WINDOW, QUOTA, now, 2)
--[end]
end
--[end]

--- refund
--[each limit]
if rate > 0 then
--[if BURST]
    local bucket = BURST
--[else]
    local bucket = QUOTA
--[end]
    local time, time_part = draining(cost < bucket and cost or bucket, WINDOW, rate)
    empty, part = empty - time, part - time_part
    if part < 0 then
        empty, part = empty - 1, part + rate
    end
    if empty < now then
        empty, part = now, 0
    end
end
--[end]

--- remaining
if QUOTA > 0 then
--[if BURST]
    local bucket = BURST
--[else]
    local bucket = QUOTA
--[end]
    -- So many or more, never fewer: a double is far less than one token off.
    local left = bucket - math.floor((empty - now + part / QUOTA) / WINDOW * QUOTA)
    while left > 0 and wait_for(left, empty, part, bucket, WINDOW, QUOTA, now) > 0 do
        left = left - 1
    end
    if left > 0 then
        remaining = left
    end
end

--- ttl
--[each limit]
local time = empty - now
if part > 0 then
    time = time + 1
end
if time > ttl then
    ttl = time
end
--[end]

--- state
local more = false
if charged then
--[each limit]
--[if BURST]
    local full, full_part = fullness(BURST, WINDOW, rate, 1)
--[else]
    local full, full_part = fullness(QUOTA, WINDOW, rate, 1)
--[end]
    more = more or is_more(empty, part, now + full, full_part)
--[end]
end
--[if BURST]
state = struct.pack('>each(I7I4I4)', each(empty, part, rate))
--[else]
local time, time_part = each(empty, part)
if LIMITS == 1 and not more and time_part == 0 and time >= FIRST and time < END then
    state = string.format('%.0f', time)
else
    state = struct.pack('>each(I7I4)', each(empty, part))
end
--[end]
if more then
    state = state .. struct.pack('>I7', now)
end
