-- sliding-log: one log of the allowed requests for all limits.
--
-- State, 12 bytes for each entry, from the oldest to the newest: time of the request in microseconds (7 bytes),
-- running total of all costs up to and including it, modulo 2^40 (5 bytes). The first entry is the base: its total
-- counts, its request does not.

local TOTALS = 2 ^ 40

local function entry(time, total)
    return struct.pack('>I7I5', time, total % TOTALS)
end

local function time(meter, k)
    return (struct.unpack('>I7', meter.log, 12 * k + 1))
end

-- What was used after entry k.
local function used_after(meter, k)
    return (meter.total - struct.unpack('>I5', meter.log, 12 * k + 8)) % TOTALS
end

-- First entry after the base that is later than the time; one past the last if none.
local function first_after(meter, moment)
    local low, high = 1, meter.last + 1
    while low < high do
        local middle = math.floor((low + high) / 2)
        if time(meter, middle) > moment then
            high = middle
        else
            low = middle + 1
        end
    end
    return low
end

-- First entry, the base included, after which no more than the cost was used.
local function first_within(meter, cost)
    local low, high = 0, meter.last
    while low < high do
        local middle = math.floor((low + high) / 2)
        if used_after(meter, middle) <= cost then
            high = middle
        else
            low = middle + 1
        end
    end
    return low
end

algorithms['sliding-log'] = {

    load = function(meter)
        local now, windows = meter.now, meter.windows
        meter.longest = #windows
        meter.used, meter.oldest = {}, {}
        meter.log = #meter.state > 0 and #meter.state % 12 == 0 and meter.state or entry(0, 0)
        meter.last = #meter.log / 12 - 1
        local newest, total = struct.unpack('>I7I5', meter.log, 12 * meter.last + 1)
        meter.total = total
        if newest > now then
            -- The clock was set back: what it says came later than now came now.
            local first = first_after(meter, now)
            local entries = {string.sub(meter.log, 1, 12 * first)}
            for k = first, meter.last do
                entries[#entries + 1] = entry(now, struct.unpack('>I5', meter.log, 12 * k + 8))
            end
            meter.log = table.concat(entries)
            meter.rewound = true
        end
        for i = 1, #windows do
            local first = first_after(meter, now - windows[i])
            meter.used[i] = used_after(meter, first - 1)
            meter.oldest[i] = first <= meter.last and time(meter, first) or now
        end
    end,

    retry_after = function(meter, i, cost)
        local room = meter.quotas[i] - cost
        if meter.used[i] <= room then
            return 0
        end
        local leaves = first_within(meter, room)
        return time(meter, leaves) + meter.windows[i] - meter.now
    end,

    add = function(meter, cost)
        local base = first_after(meter, meter.now - meter.windows[meter.longest]) - 1
        meter.total = meter.total + cost
        meter.log = string.sub(meter.log, 12 * base + 1) .. entry(meter.now, meter.total)
        meter.last = meter.last - base + 1
        for i = 1, #meter.used do
            if meter.used[i] == 0 then
                meter.oldest[i] = meter.now
            end
            meter.used[i] = meter.used[i] + cost
        end
    end,

    refund = function(meter, cost)
        local back = math.min(cost, meter.used[meter.longest])
        local newest = first_within(meter, back)
        meter.total = meter.total - back
        meter.log = string.sub(meter.log, 1, 12 * newest) .. entry(time(meter, newest), meter.total)
        meter.last = newest
        for i = 1, #meter.used do
            meter.used[i] = math.max(0, meter.used[i] - back)
        end
    end,

    remaining = function(meter, i)
        return math.max(0, meter.quotas[i] - meter.used[i])
    end,

    reset_after = function(meter, i)
        return meter.used[i] > 0 and meter.oldest[i] + meter.windows[i] - meter.now or 0
    end,

    ttl = function(meter)
        return meter.used[meter.longest] > 0
            and time(meter, meter.last) + meter.windows[meter.longest] - meter.now or 0
    end,

    state = function(meter)
        return meter.log
    end,

}
