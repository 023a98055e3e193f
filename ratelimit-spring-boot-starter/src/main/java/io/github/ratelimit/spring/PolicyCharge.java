package io.github.ratelimit.spring;

import io.github.ratelimit.Charge;

/**
 * What a request uses of a policy, with the identifiers that it is counted by.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policy the policy, which says how it is enforced
 * @param charge what is decided
 * @since 0.1
 */
public record PolicyCharge(IdentifiedPolicy policy, Charge charge) {

}
