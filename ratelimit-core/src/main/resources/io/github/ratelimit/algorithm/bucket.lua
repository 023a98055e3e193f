-- leaky-bucket and token-bucket: for each limit a bucket that drains evenly, a quota in a window.
--
-- Options: for each limit the size of its bucket; then 1 if that is not the quota.
-- State, 11 bytes for each limit: the time at which the bucket will be empty, in microseconds (7 bytes) and parts of a
-- microsecond, of which there are as many as the quota (4 bytes). So no rounding mints quota or loses it. Where a size
-- of its own makes that time depend on the quota, the quota stands behind it (4 bytes). Where it does not, the time of a
-- single bucket that is in no part of a microsecond is written as 16 digits, which Redis keeps as a number in place.

-- Times of 16 digits are those from 2001 to 2286.
local FIRST, END = 10 ^ 15, 10 ^ 16

-- Time that a cost takes to drain: microseconds and parts of one.
local function draining(meter, i, quota, cost)
    local window = meter.windows[i]
    local rest = cost * (window % quota)
    return cost * ((window - window % quota) / quota) + (rest - rest % quota) / quota, rest % quota
end

local function retry_after(meter, i, cost)
    local room, room_part = draining(meter, i, meter.quotas[i], meter.largest_costs[i] - cost)
    local wait = meter.empty[i] - meter.now - room
    if meter.part[i] > room_part then
        wait = wait + 1
    end
    return math.max(0, wait)
end

-- No bucket is more than full or less than empty.
local function clamp(meter, i, quota)
    local full, full_part = draining(meter, i, quota, meter.largest_costs[i])
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
local function convert(meter, i, quota)
    local present, time = meter.quotas[i], meter.empty[i] - meter.now
    local rest = time % present * quota + meter.part[i]
    meter.empty[i] = meter.now + (time - time % present) / present * quota + (rest - rest % present) / present
    meter.part[i] = rest % present
end

algorithms['bucket'] = {

    load = function(meter)
        local state = meter.state
        meter.keeps_quota = meter.options[#meter.quotas + 1] == 1
        local digits = #state == 16 and tonumber(state)
        if digits and digits >= FIRST and digits < END then
            state = struct.pack('>I7I4', digits, 0)
        end
        local width = meter.keeps_quota and 15 or 11
        local stored = #state == width * #meter.quotas
        meter.largest_costs, meter.empty, meter.part = meter.options, {}, {}
        for i = 1, #meter.quotas do
            meter.empty[i], meter.part[i] = meter.now, 0
            if stored and meter.quotas[i] > 0 then
                meter.empty[i], meter.part[i] = struct.unpack('>I7I4', state, width * (i - 1) + 1)
                local quota = meter.quotas[i]
                if meter.keeps_quota then
                    quota = math.max(1, (struct.unpack('>I4', state, width * i - 3)))
                end
                meter.part[i] = math.min(meter.part[i], quota - 1)
                if clamp(meter, i, quota) then
                    -- The clock was set back.
                    meter.corrected = true
                end
                if quota ~= meter.quotas[i] then
                    convert(meter, i, quota)
                    meter.corrected = true
                end
            end
        end
    end,

    retry_after = retry_after,

    add = function(meter, cost)
        for i = 1, #meter.quotas do
            if meter.quotas[i] > 0 then
                local time, part = draining(meter, i, meter.quotas[i], math.min(cost, meter.largest_costs[i]))
                meter.empty[i] = meter.empty[i] + time
                meter.part[i] = meter.part[i] + part
                if meter.part[i] >= meter.quotas[i] then
                    meter.empty[i] = meter.empty[i] + 1
                    meter.part[i] = meter.part[i] - meter.quotas[i]
                end
                clamp(meter, i, meter.quotas[i])
            end
        end
    end,

    refund = function(meter, cost)
        for i = 1, #meter.quotas do
            if meter.quotas[i] > 0 then
                local time, part = draining(meter, i, meter.quotas[i], math.min(cost, meter.largest_costs[i]))
                meter.empty[i] = meter.empty[i] - time
                meter.part[i] = meter.part[i] - part
                if meter.part[i] < 0 then
                    meter.empty[i] = meter.empty[i] - 1
                    meter.part[i] = meter.part[i] + meter.quotas[i]
                end
                clamp(meter, i, meter.quotas[i])
            end
        end
    end,

    remaining = function(meter, i)
        local quota, window, size = meter.quotas[i], meter.windows[i], meter.largest_costs[i]
        if quota == 0 then
            return 0
        end
        -- So many or more, never fewer: a double is far less than one token off.
        local remaining = size - math.floor((meter.empty[i] - meter.now + meter.part[i] / quota) / window * quota)
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
        local packed, time = {}, meter.empty[1]
        if #meter.empty == 1 and not meter.keeps_quota and meter.part[1] == 0 and time >= FIRST and time < END then
            return string.format('%.0f', time)
        end
        for i = 1, #meter.quotas do
            packed[i] = struct.pack('>I7I4', meter.empty[i], meter.part[i])
            if meter.keeps_quota then
                packed[i] = packed[i] .. struct.pack('>I4', meter.quotas[i])
            end
        end
        return table.concat(packed)
    end,

}
