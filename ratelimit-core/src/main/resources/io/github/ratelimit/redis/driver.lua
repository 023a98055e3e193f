-- Decides one request over all its meters, all or nothing. A meter is the state of one policy and identifier; what is
-- in a state is its algorithm's business. The parts of the algorithms stand before this driver in the same script.
--
-- KEYS      the states of the meters, then the blocks of the identifiers. A key of another type counts as empty, and is
--           replaced.
-- ARGV      operation: 'acquire', 'peek' (writes nothing), 'refund', 'charge' (whether it is allowed or not) or
--           'history' (of one meter). Where several calls decide a request together: 'hold' (acquires, until all have
--           answered), 'return' (gives back what was held) or 'blocked' (KEYS are the blocks of the identifier of all
--           meters, and nothing else)
--           now_us: microseconds since the epoch, or '' for this server's clock
--           metadata of the request; of a return the time when it was held, in microseconds since the epoch
--           number of meters, then for each of them:
--             part of its algorithm, name of its policy,
--             number of its identifier's key of blocks in KEYS (0 = not in this call), cost,
--             whether denied requests count (1 or 0); of a return whether the cost stays as it is,
--             number of limits, and for each limit: quota, window_us
--             number of options, and the options
-- Reply     acquire and peek: allowed (1 or 0), blocked_us (0 = not blocked), then for each meter and limit:
--           remaining, reset_after_us, retry_after_us (0 = allows it now, -1 = never will)
--           hold: the same, then the time; return: as peek
--           refund and charge: nothing; history: as the algorithm says; blocked: blocked_us

local NEVER = -1
-- The server's clock does not follow a clock that is handed in, so keys must not expire by it.
local HANDED_IN_TTL_MS = 60000

local operation, now, metadata = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local handed_in = now ~= nil
if not handed_in then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
end

-- Adding 0 makes a number of an argument, for half the price of tonumber.
local function read_arguments()
    local meters, at = {}, 4
    for m = 1, tonumber(ARGV[4]) do
        -- With room for the limit that there is at least, because a table that grows costs more.
        local quotas, windows, options = { 0 }, { 0 }, {}
        meters[m] = {
            key = KEYS[m], state = false, now = now,
            algorithm = algorithms[ARGV[at + 1]], policy = ARGV[at + 2], blocks = ARGV[at + 3] + 0,
            cost = ARGV[at + 4] + 0, count_denied = ARGV[at + 5] == '1',
            quotas = quotas, windows = windows, largest_costs = quotas, options = options,
        }
        local size = ARGV[at + 6] + 0
        at = at + 6
        for i = 1, size do
            quotas[i], windows[i] = ARGV[at + 1] + 0, ARGV[at + 2] + 0
            at = at + 2
        end
        local count = ARGV[at + 1] + 0
        at = at + 1
        for o = 1, count do
            options[o] = ARGV[at + o] + 0
        end
        at = at + count
    end
    return meters
end

-- Reads all states and blocks at once, but for states that are read in pieces.
local function load(meters)
    local keys = KEYS
    for m = 1, #meters do
        local meter = meters[m]
        if meter.algorithm.in_pieces and meter.algorithm.in_pieces(meter) then
            -- In its place the blocks are read again.
            keys = keys == KEYS and { unpack(KEYS) } or keys
            keys[m] = KEYS[meter.blocks] or meter.key
        end
    end
    local values = redis.call('MGET', unpack(keys))
    for m = 1, #meters do
        local meter = meters[m]
        meter.state, meter.blocks = keys[m] == meter.key and (values[m] or ''), values[meter.blocks]
        meter.algorithm.load(meter)
    end
end

local function save(meter)
    local ttl_us = meter.algorithm.ttl(meter)
    if ttl_us <= 0 then
        redis.call('DEL', meter.key)
        return
    end
    -- By the moment, not by the time that is left: that would be rounded up again with each refund. Rounded up, the
    -- moment is always after now.
    local option, ms = 'PXAT', math.ceil((meter.now + ttl_us) / 1000)
    if handed_in then
        option, ms = 'PX', math.max(math.ceil(ttl_us / 1000), HANDED_IN_TTL_MS)
    end
    local state = meter.algorithm.state(meter)
    if state then
        redis.call('SET', meter.key, state, option, ms)
    else
        -- It was written in place.
        redis.call(handed_in and 'PEXPIRE' or 'PEXPIREAT', meter.key, ms)
    end
end

-- For how long the identifier is still blocked, in the policy of the meter or in all.
local function blocked(meter)
    local longest, at = 0, 1
    while meter.blocks and at + 8 <= #meter.blocks do
        local till, length = struct.unpack('>I7I2', meter.blocks, at)
        local policy = string.sub(meter.blocks, at + 9, at + 8 + length)
        if policy == '' or policy == meter.policy then
            longest = math.max(longest, till - now)
        end
        at = at + 9 + length
    end
    return longest
end

local function retry_after(meter, i, cost)
    if cost == 0 then
        return 0
    elseif cost > meter.largest_costs[i] then
        return NEVER
    else
        return meter.algorithm.retry_after(meter, i, cost)
    end
end

local meters = read_arguments()

if operation == 'blocked' then
    local blocks, longest = redis.call('MGET', KEYS[1])[1], 0
    for m = 1, #meters do
        meters[m].blocks = blocks
        longest = math.max(longest, blocked(meters[m]))
    end
    return longest
end

load(meters)

if operation == 'history' then
    return meters[1].algorithm.history(meters[1])
end

if operation == 'refund' then
    for m = 1, #meters do
        local meter = meters[m]
        if meter.cost > 0 and meter.state ~= '' then
            meter.algorithm.refund(meter, meter.cost)
            save(meter)
        end
    end
    return {}
end

if operation == 'charge' then
    for m = 1, #meters do
        local meter = meters[m]
        if meter.cost > 0 then
            local charge = meter.algorithm.charge or meter.algorithm.add
            charge(meter, meter.cost, metadata)
            save(meter)
        end
    end
    return {}
end

if operation == 'return' then
    for m = 1, #meters do
        local meter = meters[m]
        if meter.cost > 0 and not meter.count_denied and meter.state ~= '' then
            meter.algorithm.refund(meter, meter.cost, tonumber(metadata))
            save(meter)
        end
    end
end

-- The times to wait stand in the reply until the rest of it is known.
local reply, at = {0, 0}, 3
local blocked_us, fits, possible = 0, true, true
for m = 1, #meters do
    local meter = meters[m]
    blocked_us = math.max(blocked_us, blocked(meter))
    for i = 1, #meter.quotas do
        local wait = retry_after(meter, i, meter.cost)
        reply[at], reply[at + 1], reply[at + 2] = 0, 0, wait
        at = at + 3
        fits = fits and wait == 0
        possible = possible and wait ~= NEVER
    end
end
local allowed = fits and blocked_us == 0

reply[1], reply[2], at = allowed and 1 or 0, blocked_us, 3
for m = 1, #meters do
    local meter = meters[m]
    local acquires = (operation == 'acquire' or operation == 'hold') and meter.cost > 0
    local counts = acquires and (allowed or (meter.count_denied and possible and blocked_us == 0))
    if counts then
        meter.algorithm.add(meter, meter.cost, metadata)
    end
    -- A state from a clock that was set back is stored even if the request is denied: it would stay ahead.
    if counts or (acquires and meter.corrected) then
        save(meter)
    end
    for i = 1, #meter.quotas do
        local remaining = meter.algorithm.remaining(meter, i)
        reply[at] = remaining
        -- More quota has arrived when one more than what remains would be allowed.
        reply[at + 1] = remaining < meter.largest_costs[i] and meter.algorithm.retry_after(meter, i, remaining + 1) or 0
        if counts and not allowed then
            reply[at + 2] = retry_after(meter, i, meter.cost)
        end
        at = at + 3
    end
end
if operation == 'hold' then
    reply[at] = now
end
return reply
