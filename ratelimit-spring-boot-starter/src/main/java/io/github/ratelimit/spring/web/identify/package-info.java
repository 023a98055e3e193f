/**
 * Internal: who makes a request, and what is known of it: identifiers, lists of clients,
 * conditions and plans.
 */
@NullMarked
package io.github.ratelimit.spring.web.identify;

import org.jspecify.annotations.NullMarked;
