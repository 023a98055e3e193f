/**
 * Callers that wait until the limits allow their requests.
 */
@NullMarked
package io.github.ratelimit.waiting;

import org.jspecify.annotations.NullMarked;
