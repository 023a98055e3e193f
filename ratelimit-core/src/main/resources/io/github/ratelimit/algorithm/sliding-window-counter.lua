-- sliding-window-counter: an estimate from the count of the current window and the weighted count of the previous one.
-- Constants: WEIGHT of the previous window, in millionths; PARTIAL (1: it is neither 0 nor 1); DOWN (1: the weighted count of the
-- previous window, its tail, is rounded down; 0: up). Costs and quotas are whole numbers, so an estimate without rounding denies
-- the same requests as one that is rounded up.
-- State, 21 bytes for each limit: start of the current window in microseconds (7 bytes), count of the previous window
-- (7 bytes), current count (7 bytes).
--
-- @limit start, previous, current, tail

--- functions
-- Returns the quotient of a product, rounded down, and its rest. The factor is less than 2^53, and left is at most as much as the
-- window, which is less than 2^49.
local function quotient(factor, left, window)
    local product = factor * left
    if product < 2 ^ 53 then
        local rest = product % window
        return (product - rest) / window, rest
    end
    local small = factor % window
    -- At most one off, because it is less than 2^49.
    local about = small * left / window
    about = about - about % 1
    -- In halves of 25 bits, whose products are exact. The sum of the high and the middle ones is small and therefore exact.
    local s, l, a, w = small % 2 ^ 25, left % 2 ^ 25, about % 2 ^ 25, window % 2 ^ 25
    local S, L, A, W = (small - s) / 2 ^ 25, (left - l) / 2 ^ 25, (about - a) / 2 ^ 25, (window - w) / 2 ^ 25
    local rest = (S * L - A * W) * 2 ^ 50 + (S * l + s * L - A * w - a * W) * 2 ^ 25 + (s * l - a * w)
    local difference = rest - rest % window
    return (factor - small) / window * left + about + difference / window, rest - difference
end

-- Returns the weighted count of a window, given the time left of the next one: count * weight * left / (10^6 * window),
-- exactly.
local function tail_of(count, left, window)
--[if WEIGHT]
--[if PARTIAL]
    -- It consists of a whole number of windows, a rest of whole microseconds, and millionths of a microsecond.
    local rest = count % 1000000
    local weighted = (count - rest) / 1000000 * WEIGHT
    rest = rest * WEIGHT
    weighted, rest = weighted + (rest - rest % 1000000) / 1000000, rest % 1000000
    local whole, micros = quotient(weighted, left, window)
    local more = left % 1000000
    micros = micros + rest * ((left - more) / 1000000)
    more = rest * more
    micros = micros + (more - more % 1000000) / 1000000
    rest = micros % window
    whole, rest = whole + (micros - rest) / window, rest + more % 1000000
--[else]
    local whole, rest = quotient(count, left, window)
--[end]
--[if not DOWN]
    if rest > 0 then
        return whole + 1
    end
--[end]
    return whole
--[else]
    return 0
--[end]
end

-- Returns the longest time left of a window at which the weighted count of the previous window still fits into the room.
local function longest(count, room, window)
--[if WEIGHT]
    if count > 0 then
        -- At most one off, then corrected exactly.
--[if DOWN]
        local left = (room + 1) * 1000000 / (count * WEIGHT) * window
--[else]
        local left = room * 1000000 / (count * WEIGHT) * window
--[end]
        left = left < window and left - left % 1 + 1 or window
        while tail_of(count, left, window) > room do
            left = left - 1
        end
        return left
    end
--[end]
    return window
end

local function wait_for(previous, current, room, left, window)
    if current <= room then
        local fits = longest(previous, room - current, window)
        if fits > 0 then
            return left - fits
        end
    end
    -- In the next window, where the current count is the previous one.
    return left + window - longest(current, room, window)
end

--- load
each(start, previous, current) = each(0, 0, 0)
lasting = true
if state and #state == 21 * LIMITS then
    each(start, previous, current) = struct.unpack('>each(I7I7I7)', state)
end
--[each limit]
local present = now - now % WINDOW
if start < present then
    previous = start == present - WINDOW and current or 0
    current = 0
elseif start > present then
    -- The clock was set back.
    corrected = true
end
start = present
-- What the current window counts matters until the end of the next one.
lasting = lasting and current > 0 and not corrected
tail = tail_of(previous, start + WINDOW - now, WINDOW)
--[end]

--- wait
if QUOTA - current - tail < cost then
    wait = wait_for(previous, current, QUOTA - cost, start + WINDOW - now, WINDOW)
end

--- add
--[each limit]
current = current + cost
if current > 2 ^ 53 - 1 then
    current = 2 ^ 53 - 1
end
--[end]

--- refund
--[each limit]
--[if CANCEL]
-- From the window in which it was used.
if since < start then
    if since >= start - WINDOW then
        previous = previous > cost and previous - cost or 0
        tail = tail_of(previous, start + WINDOW - now, WINDOW)
    end
else
    current = current > cost and current - cost or 0
end
--[else]
current = current > cost and current - cost or 0
--[end]
--[end]

--- remaining
if current + tail < QUOTA then
    remaining = QUOTA - current - tail
end

--- ttl
--[each limit]
local matters = 0
if current > 0 then
    matters = start + 2 * WINDOW - now
elseif previous > 0 then
    matters = start + WINDOW - now
end
if matters > ttl then
    ttl = matters
end
--[end]

--- state
state = struct.pack('>each(I7I7I7)', each(start, previous, current))
