-- sliding-log and sliding-window: one log of the allowed requests for all limits.
--
-- Options: precision in microseconds. A request is entered with the end of the sub-window that it is in, so that it
-- counts for a window from then, and requests of one sub-window share an entry; 0 enters each with its own time.
-- State, 12 bytes for each entry, from the oldest to the newest: time in microseconds (7 bytes), running total of all
-- costs up to and including it, modulo 2^40 (5 bytes). The first entry is the base: its total counts, its time does not.

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

algorithms['log'] = {

    load = function(meter)
        local now, windows, precision = meter.now, meter.windows, meter.options[1]
        meter.shared = precision > 0
        meter.present = meter.shared and now - now % precision + precision or now
        meter.used = {}
        meter.log = #meter.state > 0 and #meter.state % 12 == 0 and meter.state or entry(0, 0)
        meter.last = #meter.log / 12 - 1
        local newest, total = struct.unpack('>I7I5', meter.log, 12 * meter.last + 1)
        meter.total = total
        if newest > meter.present then
            -- The clock was set back: what it says came later than now came now.
            local first = first_after(meter, meter.present)
            local entries = {string.sub(meter.log, 1, 12 * first)}
            for k = first, meter.last do
                entries[#entries + 1] = entry(meter.present, struct.unpack('>I5', meter.log, 12 * k + 8))
            end
            meter.log = table.concat(entries)
            meter.corrected = true
        end
        for i = 1, #windows do
            meter.used[i] = used_after(meter, first_after(meter, now - windows[i]) - 1)
        end
    end,

    retry_after = function(meter, i, cost)
        local room = meter.quotas[i] - cost
        if meter.used[i] <= room then
            return 0
        end
        return time(meter, first_within(meter, room)) + meter.windows[i] - meter.now
    end,

    add = function(meter, cost)
        local largest = math.max(unpack(meter.quotas))
        local base = first_after(meter, meter.now - meter.windows[#meter.windows]) - 1
        local kept = string.sub(meter.log, 12 * base + 1)
        if time(meter, meter.last) == meter.present and meter.last > base and meter.shared then
            kept = string.sub(kept, 1, -13)
        end
        meter.total = meter.total + cost
        meter.log = kept .. entry(meter.present, meter.total)
        meter.last = #meter.log / 12 - 1
        if used_after(meter, 0) > largest then
            -- Denied requests were counted: what is more than the largest quota decides nothing.
            local first = first_within(meter, largest)
            meter.log = entry(0, meter.total - largest) .. string.sub(meter.log, 12 * first + 1)
            meter.last = #meter.log / 12 - 1
        end
        for i = 1, #meter.used do
            meter.used[i] = math.min(meter.used[i] + cost, largest)
        end
    end,

    refund = function(meter, cost)
        local back = math.min(cost, meter.used[#meter.used])
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

    ttl = function(meter)
        local longest = #meter.windows
        return meter.used[longest] > 0 and time(meter, meter.last) + meter.windows[longest] - meter.now or 0
    end,

    state = function(meter)
        return meter.log
    end,

}
