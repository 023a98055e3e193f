package io.github.ratelimit.redis.script;

import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

import io.github.ratelimit.redis.script.Shape.OfPolicy;
import org.jspecify.annotations.Nullable;

/**
 * What the words of a fragment mean for one policy, and one of its identifiers.
 *
 * @param p which policy it is, from 0 on
 * @param slot which policy and identifier it is, from 0 on
 * @param given words that mean something else in one place
 * @param libraries functions of Lua and Redis that are used
 */
record SlotWords(Shape shape, Fragment fragment, Names names, int p, int slot, int function, Map<String, String> given,
		Set<String> libraries) implements Template.Words {

	SlotWords with(Map<String, String> given) {
		return new SlotWords(this.shape, this.fragment, this.names, this.p, this.slot, this.function, given,
				this.libraries);
	}

	private OfPolicy policy() {
		return this.shape.policies().get(this.p);
	}

	@Override
	public String of(String word, int limit, int line) {
		String given = this.given.get(word);
		if (given != null) {
			return given;
		}
		if (this.fragment.functionNames().contains(word)) {
			return word + "_" + this.function;
		}
		if (word.indexOf('.') > 0) {
			this.libraries.add(word);
			return word.replace('.', '_');
		}
		if (this.slot < 0) {
			return constant(word, 0, word);
		}
		if (this.fragment.slotNames().contains(word)) {
			return variable(word, 0);
		}
		if (this.fragment.limitNames().contains(word)) {
			return variable(word, limit(word, limit, line));
		}
		if (this.fragment.argumentNames().contains(word)) {
			return this.names.number(this.p, word, limit(word, limit, line));
		}
		return switch (word) {
			case "key", "corrected" -> variable(word, 0);
			case "cost" -> this.names.number(this.p, "cost", 0);
			case "wait", "remaining" -> variable(word, limit(word, limit, line));
			case "QUOTA" -> this.names.number(this.p, "quota", limit(word, limit, line));
			case "LARGEST" -> largest(limit(word, limit, line));
			case "WINDOW" -> Long.toString(policy().windows().get(limit(word, limit, line) - 1));
			case "INDEX" -> Integer.toString(limit(word, limit, line));
			case "LIMITS" -> Integer.toString(policy().limits());
			case "LONGEST" -> Long.toString(policy().windows().get(policy().limits() - 1));
			default -> constant(word, limit, word);
		};
	}

	String largest(int limit) {
		return this.names.number(this.p, policy().ownLargest() ? "largest" : "quota", limit);
	}

	String variable(String name, int limit) {
		return this.names.variable(this.p, this.slot, name, limit);
	}

	private int limit(String word, int limit, int line) {
		if (limit == 0) {
			throw this.fragment.invalid(line, "'%s' is of one limit, and this is about all of them.".formatted(word));
		}
		return limit;
	}

	private String constant(String word, int limit, String otherwise) {
		Number number = number(word, limit);
		return (number != null) ? number.toString() : otherwise;
	}

	private @Nullable Number number(String word, int limit) {
		Number number = policy().constants().get(word);
		return (number == null && limit > 0) ? policy().limitConstants().get(limit - 1).get(word) : number;
	}

	@Override
	public boolean isSet(String constant, int limit, int line) {
		if (constant.equals("CANCEL") || constant.equals("CHARGE")) {
			return this.shape.operation().name().equals(constant);
		}
		Number number = number(constant, limit);
		if (number == null && limit == 0) {
			// Whether it is set for any.
			number = policy().limitConstants()
				.stream()
				.map((constants) -> constants.get(constant))
				.filter(Objects::nonNull)
				.reduce((one, other) -> (one.doubleValue() != 0) ? one : other)
				.orElse(null);
		}
		if (number == null) {
			throw this.fragment.invalid(line, "there is no constant '%s', but %s.".formatted(constant,
					new TreeSet<>(policy().constants().keySet())));
		}
		return number.doubleValue() != 0;
	}

}
