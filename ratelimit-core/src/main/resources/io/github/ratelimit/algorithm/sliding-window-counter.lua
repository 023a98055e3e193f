-- sliding-window-counter: an estimate from the count of the present window and the weighted one of the window before.
--
-- Options: weight of the window before, from 0 to 1; rounding of the estimate (0 none, 1 down, 2 up).
-- State, 21 bytes for each limit: start of the present window in microseconds (7 bytes), count of the window before
-- (7 bytes), present count (7 bytes).

local MAX_COUNT = 2 ^ 53 - 1
local DOWN, UP = 1, 2

-- What counts as used when some time of the window has elapsed.
local function used(meter, i, previous, current, elapsed)
    local estimate = previous * meter.weight * (1 - elapsed / meter.windows[i]) + current
    if meter.rounding == DOWN then
        return math.floor(estimate)
    elseif meter.rounding == UP then
        return math.ceil(estimate)
    end
    return estimate
end

-- Earliest time in a window, from some time on, when no more is used than there is room.
local function earliest(meter, i, previous, current, from, room)
    local full = previous * meter.weight
    if full == 0 then
        return from
    end
    -- About then, and then exactly.
    local slack = meter.rounding == DOWN and 1 or 0
    local about = meter.windows[i] * (1 - (room - current + slack) / full)
    local low, step = math.max(from, math.floor(about) - 1), 1
    if used(meter, i, previous, current, low) <= room then
        return low
    end
    local high = low + step
    while high < meter.windows[i] and used(meter, i, previous, current, high) > room do
        low, step = high, 2 * step
        high = low + step
    end
    high = math.min(high, meter.windows[i])
    while low + 1 < high do
        local middle = math.floor((low + high) / 2)
        if used(meter, i, previous, current, middle) <= room then
            high = middle
        else
            low = middle
        end
    end
    return high
end

algorithms['sliding-window-counter'] = {

    load = function(meter)
        local now, state = meter.now, meter.state
        meter.weight, meter.rounding = meter.options[1], meter.options[2]
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
        local room = meter.quotas[i] - cost
        local elapsed = meter.now - meter.starts[i]
        if meter.current[i] <= room then
            local fits = earliest(meter, i, meter.previous[i], meter.current[i], elapsed, room)
            if fits < meter.windows[i] then
                return fits - elapsed
            end
        end
        -- In the next window, where the present count is that of the window before.
        return meter.windows[i] - elapsed + earliest(meter, i, meter.current[i], 0, 0, room)
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
        local now_used = used(meter, i, meter.previous[i], meter.current[i], meter.now - meter.starts[i])
        return math.max(0, meter.quotas[i] - math.ceil(now_used))
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
