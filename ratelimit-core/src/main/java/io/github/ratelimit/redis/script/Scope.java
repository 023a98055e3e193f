package io.github.ratelimit.redis.script;

/**
 * Which Redis keys of a request a script uses. A node whose slot is moving cannot use
 * several Redis keys at once.
 */
public enum Scope {

	/** All, which are in one slot. */
	ALL,

	/** Those of counts. */
	COUNTS,

	/** Those of blocks. */
	BLOCKS

}
