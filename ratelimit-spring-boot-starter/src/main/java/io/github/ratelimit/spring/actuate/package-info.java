/**
 * Metrics, observations, health, and an actuator endpoint.
 */
@NullMarked
package io.github.ratelimit.spring.actuate;

import org.jspecify.annotations.NullMarked;
