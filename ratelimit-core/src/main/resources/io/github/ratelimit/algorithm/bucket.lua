-- leaky-bucket and token-bucket: for each limit a bucket that drains evenly, a quota in a window.
--
-- Options: for each limit the size of its bucket.
-- State, 11 bytes for each limit: the time at which the bucket will be empty, in microseconds (7 bytes) and parts of a
-- microsecond, of which there are as many as the quota (4 bytes). So no rounding mints quota or loses it.

-- Time that a cost takes to drain: microseconds and parts of one.
local function draining(meter, i, cost)
    local quota, window = meter.quotas[i], meter.windows[i]
    local rest = cost * (window % quota)
    return cost * ((window - window % quota) / quota) + (rest - rest % quota) / quota, rest % quota
end

local function retry_after(meter, i, cost)
    local room, room_part = draining(meter, i, meter.largest_costs[i] - cost)
    local wait = meter.empty[i] - meter.now - room
    if meter.part[i] > room_part then
        wait = wait + 1
    end
    return math.max(0, wait)
end

-- No bucket is more than full or less than empty.
local function clamp(meter, i)
    local full, full_part = draining(meter, i, meter.largest_costs[i])
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

algorithms['bucket'] = {

    load = function(meter)
        local state = meter.state
        local stored = #state == 11 * #meter.quotas
        meter.largest_costs, meter.empty, meter.part = meter.options, {}, {}
        for i = 1, #meter.quotas do
            meter.empty[i], meter.part[i] = meter.now, 0
            if stored and meter.quotas[i] > 0 then
                meter.empty[i], meter.part[i] = struct.unpack('>I7I4', state, 11 * i - 10)
                meter.part[i] = math.min(meter.part[i], meter.quotas[i] - 1)
                if clamp(meter, i) then
                    -- The clock was set back, or the bucket was larger.
                    meter.corrected = true
                end
            end
        end
    end,

    retry_after = retry_after,

    add = function(meter, cost)
        for i = 1, #meter.quotas do
            if meter.quotas[i] > 0 then
                local time, part = draining(meter, i, math.min(cost, meter.largest_costs[i]))
                meter.empty[i] = meter.empty[i] + time
                meter.part[i] = meter.part[i] + part
                if meter.part[i] >= meter.quotas[i] then
                    meter.empty[i] = meter.empty[i] + 1
                    meter.part[i] = meter.part[i] - meter.quotas[i]
                end
                clamp(meter, i)
            end
        end
    end,

    refund = function(meter, cost)
        for i = 1, #meter.quotas do
            if meter.quotas[i] > 0 then
                local time, part = draining(meter, i, math.min(cost, meter.largest_costs[i]))
                meter.empty[i] = meter.empty[i] - time
                meter.part[i] = meter.part[i] - part
                if meter.part[i] < 0 then
                    meter.empty[i] = meter.empty[i] - 1
                    meter.part[i] = meter.part[i] + meter.quotas[i]
                end
                clamp(meter, i)
            end
        end
    end,

    remaining = function(meter, i)
        local quota, window, size = meter.quotas[i], meter.windows[i], meter.largest_costs[i]
        if quota == 0 then
            return 0
        end
        -- About so many, and then exactly.
        local remaining = size - math.floor((meter.empty[i] - meter.now + meter.part[i] / quota) / window * quota)
        remaining = math.max(0, math.min(size, remaining))
        while remaining < size and retry_after(meter, i, remaining + 1) == 0 do
            remaining = remaining + 1
        end
        while remaining > 0 and retry_after(meter, i, remaining) > 0 do
            remaining = remaining - 1
        end
        return remaining
    end,

    ttl = function(meter)
        local ttl = 0
        for i = 1, #meter.quotas do
            ttl = math.max(ttl, meter.empty[i] - meter.now + (meter.part[i] > 0 and 1 or 0))
        end
        return ttl
    end,

    state = function(meter)
        local packed = {}
        for i = 1, #meter.quotas do
            packed[i] = struct.pack('>I7I4', meter.empty[i], meter.part[i])
        end
        return table.concat(packed)
    end,

}
