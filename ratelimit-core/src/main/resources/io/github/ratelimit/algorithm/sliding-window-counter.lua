-- sliding-window-counter: an estimate from the count of the present window and the weighted one of the window before.
--
-- Options: weight of the window before, in millionths; rounding of the estimate (0 none, 1 down, 2 up). Costs and quotas
-- are whole numbers, so an estimate that is not rounded denies exactly what one that is rounded up denies.
-- State, 21 bytes for each limit: start of the present window in microseconds (7 bytes), count of the window before
-- (7 bytes), present count (7 bytes).

local MAX_COUNT, UNIT, DOWN = 2 ^ 53 - 1, 1000000, 1

-- Numbers below 2^53 are exact, and products of two halves of 25 bits.
local EXACT, HALF = 2 ^ 53, 2 ^ 25

-- Quotient of a product, rounded down, and its rest; left is at most as much as the window, which is less than 2^49.
local function quotient(factor, left, window)
    local product = factor * left
    if product < EXACT then
        local rest = product % window
        return (product - rest) / window, rest
    end
    local small = factor % window
    -- One off at most, because it is less than 2^49.
    local about = math.floor(small * left / window)
    local s, l, a, w = small % HALF, left % HALF, about % HALF, window % HALF
    local S, L, A, W = (small - s) / HALF, (left - l) / HALF, (about - a) / HALF, (window - w) / HALF
    -- The sum of the high and the middle products is small, and so is exact, as is each of them.
    local rest = (S * L - A * W) * (HALF * HALF) + (S * l + s * L - A * w - a * W) * HALF + (s * l - a * w)
    local more = math.floor(rest / window)
    return (factor - small) / window * left + about + more, rest - more * window
end

-- What the count of a window weighs when so much of the next window is left: count * weight * left / (UNIT * window),
-- exactly. The parts of it are a whole number of windows, a rest of whole microseconds, and millionths of one.
local function tail(meter, window, count, left)
    local rest = count % UNIT
    local weighted = (count - rest) / UNIT * meter.weight
    rest = rest * meter.weight
    weighted, rest = weighted + (rest - rest % UNIT) / UNIT, rest % UNIT
    local whole, micros = quotient(weighted, left, window)
    local millionths = rest * (left % UNIT)
    micros = micros + rest * ((left - left % UNIT) / UNIT) + (millionths - millionths % UNIT) / UNIT
    whole = whole + (micros - micros % window) / window
    if meter.rounds_down or (micros % window == 0 and millionths % UNIT == 0) then
        return whole
    end
    return whole + 1
end

-- How much of a window may be left so that the count of the window before weighs no more than there is room.
local function longest(meter, window, count, room)
    if tail(meter, window, count, window) <= room then
        return window
    end
    -- One off at most, and then exactly.
    local about = (meter.rounds_down and room + 1 or room) * UNIT / (count * meter.weight) * window
    local left = math.min(math.floor(about) + 1, window)
    while tail(meter, window, count, left) > room do
        left = left - 1
    end
    return left
end

algorithms['sliding-window-counter'] = {

    load = function(meter)
        local now, state = meter.now, meter.state
        meter.weight, meter.rounds_down = meter.options[1], meter.options[2] == DOWN
        meter.starts, meter.previous, meter.current = {}, {}, {}
        for i = 1, #meter.windows do
            local window = meter.windows[i]
            local start = now - now % window
            local stored, previous, current = 0, 0, 0
            if #state == 21 * #meter.windows then
                stored, previous, current = struct.unpack('>I7I7I7', state, 21 * i - 20)
            end
            meter.starts[i], meter.previous[i], meter.current[i] = start, 0, 0
            if stored == start then
                meter.previous[i], meter.current[i] = previous, current
            elseif stored == start - window then
                meter.previous[i] = current
            elseif stored > start then
                -- The clock was set back.
                meter.previous[i], meter.current[i] = previous, current
                meter.corrected = true
            end
        end
    end,

    retry_after = function(meter, i, cost)
        local window = meter.windows[i]
        local left = meter.starts[i] + window - meter.now
        local room = meter.quotas[i] - cost
        if meter.current[i] <= room then
            local fits = longest(meter, window, meter.previous[i], room - meter.current[i])
            if fits > 0 then
                return math.max(0, left - fits)
            end
        end
        -- In the next window, where the present count is that of the window before.
        return left + window - longest(meter, window, meter.current[i], room)
    end,

    add = function(meter, cost)
        for i = 1, #meter.current do
            meter.current[i] = math.min(meter.current[i] + cost, MAX_COUNT)
        end
    end,

    -- Out of the window in which it was used, if that is said.
    refund = function(meter, cost, since)
        for i = 1, #meter.current do
            if not since or since >= meter.starts[i] then
                meter.current[i] = math.max(0, meter.current[i] - cost)
            elseif since >= meter.starts[i] - meter.windows[i] then
                meter.previous[i] = math.max(0, meter.previous[i] - cost)
            end
        end
    end,

    remaining = function(meter, i)
        local window = meter.windows[i]
        local left = meter.starts[i] + window - meter.now
        return math.max(0, meter.quotas[i] - meter.current[i] - tail(meter, window, meter.previous[i], left))
    end,

    ttl = function(meter)
        local ttl = 0
        for i = 1, #meter.current do
            if meter.current[i] > 0 then
                ttl = math.max(ttl, meter.starts[i] + 2 * meter.windows[i] - meter.now)
            elseif meter.previous[i] > 0 then
                ttl = math.max(ttl, meter.starts[i] + meter.windows[i] - meter.now)
            end
        end
        return ttl
    end,

    state = function(meter)
        local packed = {}
        for i = 1, #meter.current do
            packed[i] = struct.pack('>I7I7I7', meter.starts[i], meter.previous[i], meter.current[i])
        end
        return table.concat(packed)
    end,

}
