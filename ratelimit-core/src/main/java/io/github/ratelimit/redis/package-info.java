/**
 * The stores in Redis.
 * <p>
 * {@link io.github.ratelimit.redis.RedisRateLimiter By script}: each request is one call
 * of a script that is put together from the resource {@code driver.lua} of this package
 * and the parts of the algorithms that the request uses ({@code Script},
 * {@code ScriptCall}, {@code Driver}). Where its Redis keys lie on several slots of a
 * cluster, each slot decides its {@code Part}, and {@code SplitRequest} makes one
 * decision of them.
 * <p>
 * {@link io.github.ratelimit.redis.PipelineRateLimiter By plain commands}, for some
 * algorithms: {@code io.github.ratelimit.redis.pipeline}.
 * <p>
 * Scripts are {@code Call}s to {@code Servers}: to a {@code SingleServer}, or to the
 * nodes of a {@code Cluster}, of which {@code Topology} knows the {@code Slots}, and
 * {@code GuardedNodes} which of them answer. None of them repeats what may have been
 * executed. How long all of this may take is the {@code Deadline} of the thread, which
 * {@link io.github.ratelimit.redis.TimeBudget} sets, and which connections, sockets and
 * pools keep to.
 */
@NullMarked
package io.github.ratelimit.redis;

import org.jspecify.annotations.NullMarked;
