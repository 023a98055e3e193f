/**
 * What happens to requests while the store is slow or gone.
 */
@NullMarked
package io.github.ratelimit.outage;

import org.jspecify.annotations.NullMarked;
