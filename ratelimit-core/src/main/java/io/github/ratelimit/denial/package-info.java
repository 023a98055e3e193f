/**
 * A cache of denials, which answers denied clients without asking the store again.
 */
@NullMarked
package io.github.ratelimit.denial;

import org.jspecify.annotations.NullMarked;
