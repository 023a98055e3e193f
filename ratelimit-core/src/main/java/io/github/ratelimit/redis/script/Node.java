package io.github.ratelimit.redis.script;

import java.util.ArrayList;
import java.util.List;

/**
 * A line of a fragment, or what is repeated or chosen.
 */
sealed interface Node {

	/** Where it stands in the file. */
	int number();

	/** Lua. */
	record Line(int number, String text) implements Node {

	}

	/** What stands between an instruction and its end. */
	final class Block implements Node {

		private final int number;

		private final String kind;

		private final String constant;

		private final boolean negated;

		private final List<Node> first = new ArrayList<>();

		private final List<Node> second = new ArrayList<>();

		private boolean hasElse;

		/**
		 * Creates an empty block.
		 * @param kind {@code each limit}, {@code last limit} or {@code if}
		 * @param constant what an {@code if} asks for
		 * @param negated whether it asks for the opposite
		 */
		Block(int number, String kind, String constant, boolean negated) {
			this.number = number;
			this.kind = kind;
			this.constant = constant;
			this.negated = negated;
		}

		@Override
		public int number() {
			return this.number;
		}

		String kind() {
			return this.kind;
		}

		String constant() {
			return this.constant;
		}

		/** What is repeated, or chosen if the constant is not 0, or is. */
		List<Node> chosen(boolean notZero) {
			return (notZero != this.negated) ? this.first : this.second;
		}

		/** Where further nodes belong. */
		List<Node> nodes() {
			return this.hasElse ? this.second : this.first;
		}

		/** Returns whether that is possible. */
		boolean beginElse() {
			boolean possible = this.kind.equals("if") && !this.hasElse;
			this.hasElse = true;
			return possible;
		}

	}

}
