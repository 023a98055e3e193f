/**
 * Internal: the paths that are limited, in all forms that reach the same handler.
 */
@NullMarked
package io.github.ratelimit.spring.web.path;

import org.jspecify.annotations.NullMarked;
