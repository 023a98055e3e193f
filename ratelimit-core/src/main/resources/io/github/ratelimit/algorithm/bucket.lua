-- leaky-bucket and token-bucket: for each limit a bucket that drains evenly, a quota in a window.
--
-- Options: for each limit the most that it could ever allow; then the size of the bucket if that is not the quota.
-- State, 11 bytes for each limit: the time at which the bucket will be empty, in microseconds (7 bytes) and parts of a
-- microsecond, of which there are as many as the quota (4 bytes). So no rounding mints quota or loses it. Where a size
-- of its own makes that time depend on the quota, the quota stands behind it (4 bytes). Where it does not, the time of a
-- single bucket that is in no part of a microsecond is written as 16 digits, which Redis keeps as a number in place.
-- While a quota is 0 its bucket is left as it was, by the quota that it had, and goes on to drain. Of buckets that were
-- charged until one is more than full, at most twice, the time of the last change stands at the end (7 bytes), because
-- otherwise it would look as if the clock had been set back.

-- Times of 16 digits are those from 2001 to 2286.
local FIRST, END = 10 ^ 15, 10 ^ 16

-- Time that a cost takes to drain: microseconds and parts of one.
local function draining(meter, i, quota, cost)
    local window = meter.windows[i]
    local rest = cost * (window % quota)
    return cost * ((window - window % quota) / quota) + (rest - rest % quota) / quota, rest % quota
end

local function retry_after(meter, i, cost)
    local room, room_part = draining(meter, i, meter.quotas[i], meter.sizes[i] - cost)
    local wait = meter.empty[i] - meter.now - room
    if meter.part[i] > room_part then
        wait = wait + 1
    end
    return math.max(0, wait)
end

-- Whether a bucket is less full than it is with this time.
local function is_less(meter, i, empty, part)
    return meter.empty[i] < empty or (meter.empty[i] == empty and meter.part[i] < part)
end

-- No bucket is more than full so many times, 1 or 2, or less than empty.
local function clamp(meter, i, times)
    -- A bucket as large as its quota takes a window, whatever the quota was.
    local full, full_part = meter.windows[i], 0
    if meter.rates[i] > 0 then
        full, full_part = draining(meter, i, meter.rates[i], meter.sizes[i])
    end
    if times > 1 then
        full = 2 * full
        full_part = 2 * full_part
        if full_part > 0 and full_part >= meter.rates[i] then
            full = full + 1
            full_part = full_part - meter.rates[i]
        end
    end
    full = meter.now + full
    if meter.empty[i] > full or (meter.empty[i] == full and meter.part[i] > full_part) then
        meter.empty[i], meter.part[i] = full, full_part
        return true
    end
    if meter.empty[i] < meter.now then
        meter.empty[i], meter.part[i] = meter.now, 0
    end
    return false
end

-- Makes of the time at another quota the time that the same cost takes at this.
local function convert(meter, i)
    local quota, present, time = meter.rates[i], meter.quotas[i], meter.empty[i] - meter.now
    local rest = time % present * quota + meter.part[i]
    meter.empty[i] = meter.now + (time - time % present) / present * quota + (rest - rest % present) / present
    meter.part[i] = rest % present
    meter.rates[i] = present
end

local function is_more_than_full(meter)
    for i = 1, #meter.quotas do
        local empty_before, part_before = meter.empty[i], meter.part[i]
        if clamp(meter, i, 1) then
            meter.empty[i], meter.part[i] = empty_before, part_before
            return true
        end
    end
    return false
end

-- Fills buckets no more than full so many times, or than they were before.
local function fill(meter, cost, times)
    for i = 1, #meter.quotas do
        if meter.quotas[i] > 0 then
            local empty_before, part_before = meter.empty[i], meter.part[i]
            local time, part = draining(meter, i, meter.rates[i], math.min(cost, meter.sizes[i]))
            meter.empty[i] = meter.empty[i] + time
            meter.part[i] = meter.part[i] + part
            if meter.part[i] >= meter.rates[i] then
                meter.empty[i] = meter.empty[i] + 1
                meter.part[i] = meter.part[i] - meter.rates[i]
            end
            if clamp(meter, i, times) and is_less(meter, i, empty_before, part_before) then
                meter.empty[i], meter.part[i] = empty_before, part_before
            end
        end
    end
end

algorithms['bucket'] = {

    load = function(meter)
        local state = meter.state
        meter.burst = meter.options[#meter.quotas + 1]
        local digits = #state == 16 and tonumber(state)
        if digits and digits >= FIRST and digits < END then
            state = struct.pack('>I7I4', digits, 0)
        end
        local width = meter.burst and 15 or 11
        local stored = #state == width * #meter.quotas
        if #state == width * #meter.quotas + 7 then
            stored = true
            -- If the clock was set back since, nobody knows how much more than full it is.
            meter.charged = struct.unpack('>I7', state, #state - 6) <= meter.now
        end
        meter.largest_costs, meter.sizes = meter.options, meter.burst and { meter.burst } or meter.quotas
        meter.empty, meter.part, meter.rates = {}, {}, {}
        for i = 1, #meter.quotas do
            meter.empty[i], meter.part[i], meter.rates[i] = meter.now, 0, meter.quotas[i]
            if stored then
                meter.empty[i], meter.part[i] = struct.unpack('>I7I4', state, width * (i - 1) + 1)
                if meter.burst then
                    meter.rates[i] = math.max(1, (struct.unpack('>I4', state, width * i - 3)))
                end
                if meter.rates[i] > 0 then
                    meter.part[i] = math.min(meter.part[i], meter.rates[i] - 1)
                end
                if clamp(meter, i, meter.charged and 2 or 1) then
                    -- The clock was set back.
                    meter.corrected = true
                end
                if meter.quotas[i] > 0 and meter.rates[i] ~= meter.quotas[i] then
                    convert(meter, i)
                    meter.corrected = true
                end
            end
        end
    end,

    retry_after = retry_after,

    add = function(meter, cost)
        fill(meter, cost, 1)
    end,

    charge = function(meter, cost)
        meter.charged = true
        fill(meter, cost, 2)
    end,

    refund = function(meter, cost)
        for i = 1, #meter.quotas do
            if meter.rates[i] > 0 then
                local time, part = draining(meter, i, meter.rates[i], math.min(cost, meter.sizes[i]))
                meter.empty[i] = meter.empty[i] - time
                meter.part[i] = meter.part[i] - part
                if meter.part[i] < 0 then
                    meter.empty[i] = meter.empty[i] - 1
                    meter.part[i] = meter.part[i] + meter.rates[i]
                end
                clamp(meter, i, 2)
            end
        end
    end,

    remaining = function(meter, i)
        local quota, window, size = meter.quotas[i], meter.windows[i], meter.sizes[i]
        if quota == 0 then
            return 0
        end
        -- So many or more, never fewer: a double is far less than one token off.
        local remaining = size - math.floor((meter.empty[i] - meter.now + meter.part[i] / quota) / window * quota)
        while remaining > 0 and retry_after(meter, i, remaining) > 0 do
            remaining = remaining - 1
        end
        return math.max(0, remaining)
    end,

    ttl = function(meter)
        local ttl = 0
        for i = 1, #meter.quotas do
            ttl = math.max(ttl, meter.empty[i] - meter.now + (meter.part[i] > 0 and 1 or 0))
        end
        return ttl
    end,

    state = function(meter)
        local packed, time, more = {}, meter.empty[1], meter.charged and is_more_than_full(meter)
        if #meter.empty == 1 and not meter.burst and not more and meter.part[1] == 0 and time >= FIRST and time < END then
            return string.format('%.0f', time)
        end
        for i = 1, #meter.quotas do
            packed[i] = struct.pack('>I7I4', meter.empty[i], meter.part[i])
            if meter.burst then
                packed[i] = packed[i] .. struct.pack('>I4', meter.rates[i])
            end
        end
        if more then
            packed[#packed + 1] = struct.pack('>I7', meter.now)
        end
        return table.concat(packed)
    end,

}
