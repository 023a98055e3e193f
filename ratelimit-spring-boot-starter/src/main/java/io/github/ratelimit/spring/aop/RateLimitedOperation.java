package io.github.ratelimit.spring.aop;

import io.github.ratelimit.spring.IdentifiedPolicy;

/**
 * What {@code @RateLimited} says of a method.
 *
 * @param policy the policy to enforce
 * @param cost what a call uses of each quota
 */
record RateLimitedOperation(IdentifiedPolicy policy, long cost) {

}
