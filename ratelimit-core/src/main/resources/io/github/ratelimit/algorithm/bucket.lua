-- leaky-bucket and token-bucket: for each limit a bucket that drains evenly, a quota in a window.
--
-- Constants: BURST (size of the bucket, 0 if that is the quota).
-- State, 11 bytes for each limit: the time at which the bucket will be empty, in microseconds (7 bytes) and fractions of a
-- microsecond (4 bytes). A microsecond has as many fractions as the quota, so that rounding neither creates nor loses quota.
-- If the bucket has a separate size, this time depends on the quota, and the quota follows (4 bytes). Otherwise, the time of
-- a single bucket is written as 16 digits if it is a whole microsecond, because Redis stores that as a number.
-- While a quota is 0, its bucket drains at the previous quota. While charges overdraw a bucket, up to twice its size, the
-- time of the last change is at the end (7 bytes); otherwise it would look as if the clock had been set back.
--
-- @slot charged
-- @limit empty, fraction, rate, whole, over, full, full_fraction

--- functions
-- Times from 2001 to 2286 have 16 digits.
local FIRST, END = 10 ^ 15, 10 ^ 16

-- Returns the time in which a cost of 1 drains, in microseconds and fractions, and when a bucket is empty that is full now.
local function pace(size, window, quota, now)
    if quota == 0 then
        return 0, 0, now + window, 0
    end
    local over = window % quota
    local whole = (window - over) / quota
    local rest = size * over
    local rest_fraction = rest % quota
    return whole, over, now + size * whole + (rest - rest_fraction) / quota, rest_fraction
end

-- Returns when a bucket is empty that is filled to twice its size now.
local function twice(full, full_fraction, quota, now)
    full, full_fraction = 2 * full - now, 2 * full_fraction
    if full_fraction > 0 and full_fraction >= quota then
        full, full_fraction = full + 1, full_fraction - quota
    end
    return full, full_fraction
end

--- load
each(empty, fraction, rate) = each(now, 0, QUOTA)
charged = false
local size = state and #state
--[if BURST]
local width = 15 * LIMITS
if size == width or size == width + 7 then
    each(empty, fraction, rate) = struct.unpack('>each(I7I4I4)', state)
end
--[else]
local width = 11 * LIMITS
if size == 16 and LIMITS == 1 then
    local digits = tonumber(state)
    if digits and digits >= FIRST and digits < END then
        each(empty) = each(digits - digits % 1)
    end
elseif size == width or size == width + 7 then
    each(empty, fraction) = struct.unpack('>each(I7I4)', state)
end
--[end]
if size == width + 7 then
    -- If the clock was set back since, it is unknown by how much it is overdrawn.
    charged = struct.unpack('>I7', state, width + 1) <= now
end
--[each limit]
--[if BURST]
if rate < 1 then
    rate = QUOTA > 0 and 1 or rate
end
whole, over, full, full_fraction = pace(BURST, WINDOW, rate, now)
--[else]
whole, over, full, full_fraction = pace(QUOTA, WINDOW, rate, now)
--[end]
if empty <= now then
    if empty < now then
        empty, fraction = now, 0
    end
end
if fraction >= rate and rate > 0 then
    fraction = rate - 1
end
if empty >= full then
    local most, most_fraction = full, full_fraction
    if charged then
        most, most_fraction = twice(full, full_fraction, rate, now)
    end
    if empty > most or (empty == most and fraction > most_fraction) then
        -- The clock was set back.
        empty, fraction = most, most_fraction
        corrected = true
    end
end
--[if BURST]
if QUOTA > 0 and rate ~= QUOTA then
    -- Converts the time at another quota to the time for the same cost at this quota.
    local time = empty - now
    local rest_time = time % QUOTA
    local rest = rest_time * rate + fraction
    fraction = rest % QUOTA
    empty = now + (time - rest_time) / QUOTA * rate + (rest - fraction) / QUOTA
    rate = QUOTA
    whole, over, full, full_fraction = pace(BURST, WINDOW, rate, now)
    corrected = true
end
--[end]
--[end]

--- wait
local room = LARGEST - cost
local rest = room * over
local rest_fraction = rest % QUOTA
local left = empty - now - room * whole - (rest - rest_fraction) / QUOTA
if fraction > rest_fraction then
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
    local rest_fraction = rest % QUOTA
    local filled, filled_fraction = empty + used * whole + (rest - rest_fraction) / QUOTA, fraction + rest_fraction
    if filled_fraction >= QUOTA then
        filled, filled_fraction = filled + 1, filled_fraction - QUOTA
    end
--[if CHARGE]
    -- At most twice the size.
    local most, most_fraction = twice(full, full_fraction, QUOTA, now)
    if filled < most or (filled == most and filled_fraction <= most_fraction) then
        empty, fraction = filled, filled_fraction
    else
        empty, fraction = most, most_fraction
    end
--[else]
    -- At most full, or as full as before.
    if filled < full or (filled == full and filled_fraction <= full_fraction) then
        empty, fraction = filled, filled_fraction
    elseif empty < full or (empty == full and fraction < full_fraction) then
        empty, fraction = full, full_fraction
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
    local rest_fraction = rest % rate
    empty, fraction = empty - used * whole - (rest - rest_fraction) / rate, fraction - rest_fraction
    if fraction < 0 then
        empty, fraction = empty - 1, fraction + rate
    end
    if empty < now then
        empty, fraction = now, 0
    end
end
--[end]

--- remaining
if QUOTA > 0 then
    -- This number or more, never fewer: the double is off by far less than one token.
    local left = LARGEST - math.floor((empty - now + fraction / QUOTA) / WINDOW * QUOTA)
    while left > 0 do
        local rest = (LARGEST - left) * over
        local rest_fraction = rest % QUOTA
        local time = empty - now - (LARGEST - left) * whole - (rest - rest_fraction) / QUOTA
        if time < 0 or (time == 0 and fraction <= rest_fraction) then
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
if fraction > 0 then
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
    more = more or empty > full or (empty == full and fraction > full_fraction)
--[end]
end
--[if BURST]
state = struct.pack('>each(I7I4I4)', each(empty, fraction, rate))
--[else]
local time, time_fraction = each(empty, fraction)
if LIMITS == 1 and not more and time_fraction == 0 and time >= FIRST and time < END then
    state = string.format('%.0f', time)
else
    state = struct.pack('>each(I7I4)', each(empty, fraction))
end
--[end]
if more then
    state = state .. struct.pack('>I7', now)
end
