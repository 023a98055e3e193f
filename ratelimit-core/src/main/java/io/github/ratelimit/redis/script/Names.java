package io.github.ratelimit.redis.script;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.ratelimit.redis.script.Shape.OfPolicy;

/**
 * Names everything of a request in its script. Few variables are locals; many lie in a
 * table, of which each policy and identifier has a stretch that begins at {@code b_}.
 */
final class Names {

	/** Lua has 200 locals in a function, and 250 registers. */
	private static final int MOST_LOCALS = 120;

	/** For more policies and identifiers than that, a script has loops. */
	private static final int MOST_SLOTS = 8;

	/** What the composer itself has of each limit of a slot. */
	private static final List<String> OF_LIMIT = List.of("wait", "remaining", "reset", "violated");

	/** What the composer itself has of each slot. */
	private static final List<String> OF_SLOT = List.of("key", "corrected", "stored", "counts");

	private final Shape shape;

	private final List<Fragment> fragments;

	private final boolean flat;

	/** Numbers that come with each request, in their order, by name. */
	private final Map<String, Integer> numbers = new HashMap<>();

	private final List<String> numberNames = new ArrayList<>();

	/** Where in a stretch of the table each variable of a policy is. */
	private final List<Map<String, Integer>> offsets = new ArrayList<>();

	private final Set<String> locals = new LinkedHashSet<>();

	Names(Shape shape, List<Fragment> fragments) {
		this.shape = shape;
		this.fragments = fragments;
		addNumbers();
		int size = this.numbers.size();
		for (int p = 0; p < fragments.size(); p++) {
			Map<String, Integer> offsets = offsets(fragments.get(p), shape.policies().get(p).limits());
			this.offsets.add(offsets);
			size += offsets.size() * shape.blocks().get(p).size();
		}
		this.flat = size > MOST_LOCALS || shape.slots() > MOST_SLOTS;
	}

	private static Map<String, Integer> offsets(Fragment fragment, int limits) {
		Map<String, Integer> offsets = new HashMap<>();
		OF_SLOT.forEach((name) -> offsets.put(name, offsets.size() + 1));
		fragment.slotNames().forEach((name) -> offsets.put(name, offsets.size() + 1));
		for (int i = 1; i <= limits; i++) {
			int limit = i;
			OF_LIMIT.forEach((name) -> offsets.put(name + "_" + limit, offsets.size() + 1));
			fragment.limitNames().forEach((name) -> offsets.put(name + "_" + limit, offsets.size() + 1));
		}
		return offsets;
	}

	private void addNumbers() {
		if (this.shape.handsInTime()) {
			addNumber("now");
		}
		if (this.shape.operation() == Operation.CANCEL) {
			addNumber("since");
		}
		if (this.shape.operation() == Operation.HISTORY) {
			addNumber("most");
			addNumber("before");
		}
		for (int p = 0; p < this.fragments.size(); p++) {
			OfPolicy policy = this.shape.policies().get(p);
			addNumber(ofPolicy(p, "cost", 0));
			if (this.shape.operation() == Operation.CANCEL) {
				addNumber(ofPolicy(p, "stays", 0));
			}
			for (int i = 1; i <= policy.limits(); i++) {
				addNumber(ofPolicy(p, "quota", i));
				if (policy.ownLargest()) {
					addNumber(ofPolicy(p, "largest", i));
				}
				for (String name : this.fragments.get(p).argumentNames().subList(0, policy.arguments().get(i - 1))) {
					addNumber(ofPolicy(p, name, i));
				}
			}
		}
	}

	private void addNumber(String name) {
		this.numbers.put(name, this.numbers.size() + 1);
		this.numberNames.add(name);
	}

	private static String ofPolicy(int p, String name, int limit) {
		return "p" + (p + 1) + "_" + name + ((limit > 0) ? "_" + limit : "");
	}

	/** Whether variables lie in a table, and policies have loops. */
	boolean isFlat() {
		return this.flat;
	}

	/** The numbers that come with each request. */
	List<String> numbers() {
		return this.numberNames;
	}

	/** The variables that were named, if they are locals. */
	Set<String> locals() {
		return this.locals;
	}

	/** How long the stretch of each slot of a policy is. */
	int width(int p) {
		return this.offsets.get(p).size();
	}

	/** A number of a policy that comes with each request. */
	String number(int p, String name, int limit) {
		String number = ofPolicy(p, name, limit);
		return this.flat ? "n_[" + this.numbers.get(number) + "]" : number;
	}

	/** A variable of a slot, or of a limit of it. */
	String variable(int p, int slot, String name, int limit) {
		String variable = (limit > 0) ? name + "_" + limit : name;
		if (this.flat) {
			return "x_[b_ + " + this.offsets.get(p).get(variable) + "]";
		}
		String local = "s" + (slot + 1) + "_" + variable;
		this.locals.add(local);
		return local;
	}

}
