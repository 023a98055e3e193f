package io.github.ratelimit.spring.policy;

import io.github.ratelimit.spring.IdentifiedPolicy;

/**
 * A policy that a {@code @RateLimited} annotation names or declares.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param place the method or type with the annotation
 * @param policy the policy, with the identifiers of the annotation
 * @since 0.1
 */
public record AnnotatedPolicy(String place, IdentifiedPolicy policy) {

}
