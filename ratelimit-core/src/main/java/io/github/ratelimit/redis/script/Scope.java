package io.github.ratelimit.redis.script;

/**
 * What of a request a script has the Redis keys of. A node whose slot is moving cannot
 * use several Redis keys at once.
 */
public enum Scope {

	/** All, which is on one slot. */
	ALL,

	/** What is counted, but not the blocks. */
	COUNTS,

	/** The blocks alone. */
	BLOCKS

}
