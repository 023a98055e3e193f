package io.github.ratelimit.redis.script;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A piece of a fragment.
 */
sealed interface Node {

	/** Lua that means the same everywhere. */
	record Text(String text) implements Node {

	}

	/** What may stand for something else. */
	record Word(String word, int line) implements Node {

	}

	/** One or the other, by whether a constant is set: something else than 0. */
	record Choice(String constant, int line, List<Node> set, List<Node> notSet) implements Node {

	}

	/**
	 * What is repeated.
	 *
	 * @param each for what: {@code each limit}, {@code last limit}, {@code each slot_};
	 * in a line {@code each} for each limit, {@code every_} for those of each slot
	 * @param separator what stands between in a line; {@code null} if each stands in a
	 * block of its own
	 */
	record Repeat(String each, @Nullable String separator, List<Node> nodes) implements Node {

	}

	/** A section, in a block of its own. */
	record Section(String name) implements Node {

	}

	/** The begin of a function, or of constants. */
	record Declaration(List<String> names) implements Node {

	}

}
