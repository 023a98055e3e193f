package io.github.ratelimit.spring.policy;

import io.github.ratelimit.spring.IdentifiedPolicy;

/**
 * A policy that {@code @RateLimited} names, or that is written there.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param place the method or type with the annotation
 * @param policy the policy, with the identifiers that the annotation gives it
 * @since 0.1
 */
public record AnnotatedPolicy(String place, IdentifiedPolicy policy) {

}
