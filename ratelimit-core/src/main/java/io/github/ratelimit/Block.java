package io.github.ratelimit;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A ban of an identifier for a time: made manually, or by a {@link Penalty}.
 *
 * @param identifier the blocked identifier
 * @param policy name of the policy that the identifier is blocked in; {@code null} for
 * all policies
 * @param until when the block ends, by the store's clock
 * @param reason the reason, for people; may be empty
 */
public record Block(Identifier identifier, @Nullable String policy, Instant until, String reason) {

}
