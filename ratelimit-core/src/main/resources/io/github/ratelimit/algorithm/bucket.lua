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
-- @limit empty, part, rate, whole, over, full, full_part

--- functions
-- Times of 16 digits are those from 2001 to 2286.
local FIRST, END = 10 ^ 15, 10 ^ 16

-- How long one takes to drain, in microseconds and parts of one, and when a bucket is empty that is full now.
local function pace(size, window, quota, now)
    if quota == 0 then
        return 0, 0, now + window, 0
    end
    local over = window % quota
    local whole = (window - over) / quota
    local rest = size * over
    local rest_part = rest % quota
    return whole, over, now + size * whole + (rest - rest_part) / quota, rest_part
end

-- When a bucket is empty that is twice full now.
local function twice(full, full_part, quota, now)
    full, full_part = 2 * full - now, 2 * full_part
    if full_part > 0 and full_part >= quota then
        full, full_part = full + 1, full_part - quota
    end
    return full, full_part
end

--- load
each(empty, part, rate) = each(now, 0, QUOTA)
charged = false
local size = state and #state
--[if BURST]
local width = 15 * LIMITS
if size == width or size == width + 7 then
    each(empty, part, rate) = struct.unpack('>each(I7I4I4)', state)
end
--[else]
local width = 11 * LIMITS
if size == 16 and LIMITS == 1 then
    local digits = tonumber(state)
    if digits and digits >= FIRST and digits < END then
        each(empty) = each(digits - digits % 1)
    end
elseif size == width or size == width + 7 then
    each(empty, part) = struct.unpack('>each(I7I4)', state)
end
--[end]
if size == width + 7 then
    -- If the clock was set back since, nobody knows how much more than full it is.
    charged = struct.unpack('>I7', state, width + 1) <= now
end
--[each limit]
--[if BURST]
if rate < 1 then
    rate = QUOTA > 0 and 1 or rate
end
whole, over, full, full_part = pace(BURST, WINDOW, rate, now)
--[else]
whole, over, full, full_part = pace(QUOTA, WINDOW, rate, now)
--[end]
if empty <= now then
    if empty < now then
        empty, part = now, 0
    end
end
if part >= rate and rate > 0 then
    part = rate - 1
end
if empty >= full then
    local most, most_part = full, full_part
    if charged then
        most, most_part = twice(full, full_part, rate, now)
    end
    if empty > most or (empty == most and part > most_part) then
        -- The clock was set back.
        empty, part = most, most_part
        corrected = true
    end
end
--[if BURST]
if QUOTA > 0 and rate ~= QUOTA then
    -- Makes of the time at another quota the time that the same cost takes at this.
    local time = empty - now
    local rest_time = time % QUOTA
    local rest = rest_time * rate + part
    part = rest % QUOTA
    empty = now + (time - rest_time) / QUOTA * rate + (rest - part) / QUOTA
    rate = QUOTA
    whole, over, full, full_part = pace(BURST, WINDOW, rate, now)
    corrected = true
end
--[end]
--[end]

--- wait
local room = LARGEST - cost
local rest = room * over
local rest_part = rest % QUOTA
local left = empty - now - room * whole - (rest - rest_part) / QUOTA
if part > rest_part then
    left = left + 1
end
if left > 0 then
    wait = left
end

--- add
--[if CHARGE]
charged = true
--[end]
--[each limit]
if QUOTA > 0 then
    local used = cost < LARGEST and cost or LARGEST
    local rest = used * over
    local rest_part = rest % QUOTA
    local filled, filled_part = empty + used * whole + (rest - rest_part) / QUOTA, part + rest_part
    if filled_part >= QUOTA then
        filled, filled_part = filled + 1, filled_part - QUOTA
    end
--[if CHARGE]
    -- No more than twice full.
    local most, most_part = twice(full, full_part, QUOTA, now)
    if filled < most or (filled == most and filled_part <= most_part) then
        empty, part = filled, filled_part
    else
        empty, part = most, most_part
    end
--[else]
    -- No more than full, or than before.
    if filled < full or (filled == full and filled_part <= full_part) then
        empty, part = filled, filled_part
    elseif empty < full or (empty == full and part < full_part) then
        empty, part = full, full_part
    end
--[end]
end
--[end]

--- refund
--[each limit]
if rate > 0 then
--[if BURST]
    local used = cost < BURST and cost or BURST
--[else]
    local used = cost < QUOTA and cost or QUOTA
--[end]
    local rest = used * over
    local rest_part = rest % rate
    empty, part = empty - used * whole - (rest - rest_part) / rate, part - rest_part
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
    -- So many or more, never fewer: a double is far less than one token off.
    local left = LARGEST - math.floor((empty - now + part / QUOTA) / WINDOW * QUOTA)
    while left > 0 do
        local rest = (LARGEST - left) * over
        local rest_part = rest % QUOTA
        local time = empty - now - (LARGEST - left) * whole - (rest - rest_part) / QUOTA
        if time < 0 or (time == 0 and part <= rest_part) then
            break
        end
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
    more = more or empty > full or (empty == full and part > full_part)
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
