package io.github.ratelimit.benchmarks;

import java.util.function.IntConsumer;

/**
 * Something whose cost is measured by calling it many times.
 *
 * @param command the Redis command of each call, in lower case
 * @param call makes a call, given its number from 0
 */
record Subject(String command, IntConsumer call) {

}
