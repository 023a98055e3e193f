package io.github.ratelimit.redis;

import redis.clients.jedis.HostAndPort;

/**
 * A call on its way to the node that has its Redis keys.
 *
 * @param node where it goes next
 * @param asks whether the node does not have the slot yet, but takes it over
 */
record Journey(Call call, HostAndPort node, boolean asks) {

	Journey(Call call, HostAndPort node) {
		this(call, node, false);
	}

}
