/**
 * Internal: reads policies and plans from properties, refreshes them, and decides
 * requests.
 */
@NullMarked
package io.github.ratelimit.spring.policy;

import org.jspecify.annotations.NullMarked;
