/**
 * A program that decides the requests of access logs again, to choose limits.
 */
@NullMarked
package io.github.ratelimit.replay;

import org.jspecify.annotations.NullMarked;
