/**
 * The stores in Redis.
 * <p>
 * {@link io.github.ratelimit.redis.RedisRateLimiter By script}: each request is a call of
 * a script that is composed for its shape ({@code io.github.ratelimit.redis.script}).
 * Where its Redis keys are on several slots of a cluster, each slot decides its
 * {@code SlotRequest}, and {@code SplitDecision} makes one decision of them.
 * <p>
 * {@link io.github.ratelimit.redis.PipelineRateLimiter By plain commands}, for some
 * algorithms: {@code io.github.ratelimit.redis.pipeline}.
 * <p>
 * {@link io.github.ratelimit.redis.RedisConnections} sends the calls: those that wait for
 * a server go together ({@code io.github.ratelimit.redis.connection}), to one server or
 * to the nodes of a cluster ({@code io.github.ratelimit.redis.cluster}). Nothing that may
 * have been executed is sent again.
 */
@NullMarked
package io.github.ratelimit.redis;

import org.jspecify.annotations.NullMarked;
