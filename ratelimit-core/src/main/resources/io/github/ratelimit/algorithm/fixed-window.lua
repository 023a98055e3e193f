-- fixed-window: a counter for each limit, in windows aligned to the epoch.
--
-- State, 14 bytes for each limit: end of the window in microseconds (7 bytes), count (7 bytes).

algorithms['fixed-window'] = {

    load = function(meter)
        local now, state, windows = meter.now, meter.state, meter.windows
        local stored = #state == 14 * #windows
        meter.ends, meter.counts = {}, {}
        for i = 1, #windows do
            local window = windows[i]
            local finish, count = 0, 0
            if stored then
                finish, count = struct.unpack('>I7I7', state, 14 * i - 13)
            end
            if count == 0 or finish <= now then
                count = 0
                finish = now - now % window + window
            elseif finish > now + window then
                -- The clock was set back: the count lasts one window, not until the clock has caught up.
                finish = now + window
                meter.rewound = true
            end
            meter.ends[i] = finish
            meter.counts[i] = count
        end
    end,

    retry_after = function(meter, i, cost)
        return meter.quotas[i] - meter.counts[i] >= cost and 0 or meter.ends[i] - meter.now
    end,

    add = function(meter, cost)
        for i = 1, #meter.counts do
            meter.counts[i] = meter.counts[i] + cost
        end
    end,

    refund = function(meter, cost)
        for i = 1, #meter.counts do
            meter.counts[i] = math.max(0, meter.counts[i] - cost)
        end
    end,

    remaining = function(meter, i)
        return math.max(0, meter.quotas[i] - meter.counts[i])
    end,

    reset_after = function(meter, i)
        return meter.counts[i] > 0 and meter.ends[i] - meter.now or 0
    end,

    ttl = function(meter)
        local ttl = 0
        for i = 1, #meter.counts do
            if meter.counts[i] > 0 then
                ttl = math.max(ttl, meter.ends[i] - meter.now)
            end
        end
        return ttl
    end,

    state = function(meter)
        local packed = {}
        for i = 1, #meter.counts do
            packed[i] = struct.pack('>I7I7', meter.ends[i], meter.counts[i])
        end
        return table.concat(packed)
    end,

}
