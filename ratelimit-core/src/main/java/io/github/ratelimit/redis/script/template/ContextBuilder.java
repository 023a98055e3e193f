package io.github.ratelimit.redis.script.template;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Penalty;
import io.github.ratelimit.redis.script.Operation;
import io.github.ratelimit.redis.script.Shape;
import io.github.ratelimit.redis.script.Shape.OfPolicy;

/**
 * Builds the contexts for the script of a shape: what the words of {@code request.lua}
 * and of fragments stand for in it.
 */
final class ContextBuilder {

	/** Words with another meaning for each limit. */
	private static final List<String> OF_LIMIT = List.of("QUOTA", "LARGEST", "WINDOW", "INDEX");

	private final Shape shape;

	private final Operation operation;

	private final boolean large;

	private final Map<String, String> words = new HashMap<>();

	final List<Context> policies = new ArrayList<>();

	/** The numbers that come with each request, in their order, and their Lua. */
	final Map<String, String> numbers = new LinkedHashMap<>();

	ContextBuilder(Shape shape, boolean large) {
		this.shape = shape;
		this.operation = shape.operation();
		this.large = large;
		setOperation();
		shape.policies().forEach((policy) -> this.policies.add(policy(policy)));
		addNumbers();
		setNumbers();
		setKeys();
	}

	private void setOperation() {
		set(this.words, "CANCEL", this.operation == Operation.CANCEL);
		set(this.words, "CHARGE", this.operation == Operation.CHARGE);
		set(this.words, "RESERVE_", this.operation == Operation.RESERVE);
		set(this.words, "HISTORY_", this.operation == Operation.HISTORY);
		set(this.words, "DECIDES_", this.operation.decides());
		set(this.words, "ACQUIRES_", this.operation.acquires());
		set(this.words, "GIVES_BACK_", this.operation.givesBack());
		set(this.words, "CUSTOM_CLOCK_", this.shape.customClock());
		set(this.words, "BLOCKABLE_", this.operation.readsBlocks(this.shape.scope()));
		set(this.words, "COUNTS_", this.shape.stateKeys() > 0);
		set(this.words, "COUNTS_DENIALS_", this.operation == Operation.COUNT_DENIALS);
		set(this.words, "PENALTIES_", this.shape.policies().stream().anyMatch(this.shape::penalizes));
		set(this.words, "LARGE_", this.large);
	}

	private static void set(Map<String, String> words, String flag, boolean set) {
		words.put(flag, set ? "1" : "0");
	}

	private static boolean isSet(Context context, String flag) {
		return "1".equals(context.words().get(flag));
	}

	private Context policy(OfPolicy policy) {
		Fragment fragment = Fragment.read(policy.neighbour(), policy.fragment());
		Map<String, String> words = new HashMap<>(this.words);
		policy.constants().get(0).forEach((name, value) -> words.put(name, value.toString()));
		words.put("POLICY_", Integer.toString(this.policies.size() + 1));
		set(words, "SHADOW_", policy.shadow());
		set(words, "COUNT_DENIED_", policy.countsDenied(this.operation));
		setPenalty(words, policy);
		List<Context> limits = new ArrayList<>();
		for (Map<String, Number> constants : policy.constants().subList(1, 1 + policy.limits())) {
			Map<String, String> own = new HashMap<>(words);
			constants.forEach((name, value) -> own.put(name, value.toString()));
			limits.add(new Context(fragment, "do\n", own, new HashMap<>()));
		}
		Context context = new Context(fragment, "", words, parts(limits));
		set(words, "READS_", this.shape.stateKeys() > 0 && isNamed("state", context, "load"));
		set(words, "LASTS_", this.operation.uses() && !this.operation.givesBack() && !this.shape.customClock()
				&& isNamed("lasting", context, "load"));
		return context;
	}

	private void setPenalty(Map<String, String> words, OfPolicy policy) {
		Penalty penalty = policy.penalty();
		set(words, "PENALIZES_", this.shape.penalizes(policy));
		if (penalty != null) {
			set(words, "BLOCKS_IT_", !penalty.shadow() && !policy.shadow());
			words.put("AFTER_", Integer.toString(penalty.after()));
			words.put("WITHIN_", micros(penalty.within()));
			words.put("FIRST_BLOCK_", micros(penalty.block()));
			words.put("UP_TO_", micros(penalty.upTo()));
		}
	}

	private static String micros(Duration time) {
		return Long.toString(1000 * time.toMillis());
	}

	/** Returns the parts of a context with limits; the limits have the same parts. */
	private static Map<String, List<Context>> parts(List<Context> limits) {
		Map<String, List<Context>> parts = Map.of("each", limits, "each limit", limits, "last limit",
				limits.subList(limits.size() - 1, limits.size()));
		limits.forEach((limit) -> limit.parts().putAll(parts));
		return parts;
	}

	boolean hasMetadata() {
		return this.numbers.containsKey("length_");
	}

	private boolean isUsed(String word) {
		return this.policies.stream()
			.anyMatch((policy) -> (this.operation.uses() && isNamed(word, policy, "add"))
					|| (this.operation.givesBack() && isNamed(word, policy, "refund")));
	}

	private static boolean isNamed(String word, Context context, String section) {
		return Pattern.compile("\\b" + word + "\\b").matcher(context.section(section)).find();
	}

	private void addNumbers() {
		boolean cancels = this.operation == Operation.CANCEL;
		addNumbers(this.shape.customClock(), "now");
		addNumbers(cancels, "since");
		addNumbers(this.operation == Operation.HISTORY, "most", "before");
		addNumbers(isUsed("call"), "call");
		addNumbers(isUsed("metadata"), "length_");
		this.words.put("FIRST_", this.numbers.isEmpty() ? "_" : String.join(", ", this.numbers.keySet()));
		for (int p = 0; p < this.policies.size(); p++) {
			addNumbers(true, prefix(p) + "cost");
			addNumbers(cancels, prefix(p) + "change_");
			addNumbersOfLimits(this.shape.policies().get(p), this.policies.get(p), prefix(p));
		}
	}

	private void addNumbersOfLimits(OfPolicy policy, Context context, String prefix) {
		for (int i = 0; i < policy.limits(); i++) {
			Map<String, String> words = context.limits().get(i).words();
			String suffix = "_" + (i + 1);
			String quota = addNumber(prefix + "QUOTA" + suffix);
			words.put("QUOTA", quota);
			words.put("LARGEST", policy.ownLargest() ? addNumber(prefix + "LARGEST" + suffix) : quota);
			for (String name : context.fragment().names("argument").subList(0, policy.arguments().get(i))) {
				words.put(name, addNumber(prefix + name + suffix));
			}
		}
	}

	private static String prefix(int p) {
		return "p" + (p + 1) + "_";
	}

	private void addNumbers(boolean used, String... names) {
		if (used) {
			Stream.of(names).forEach(this::addNumber);
		}
	}

	private String addNumber(String name) {
		String lua = this.large ? "numbers_[" + (this.numbers.size() + 1) + "]" : name;
		this.numbers.put(name, lua);
		return lua;
	}

	private void setNumbers() {
		set(this.words, "METADATA_", hasMetadata());
		this.words.put("FORMAT_", "'>" + "d".repeat(this.numbers.size()) + "'");
		this.words.put("NUMBERS_", String.join(", ", this.numbers.keySet()));
		this.words.put("NAMES_", Integer.toString(Double.BYTES * this.numbers.size() + 1));
	}

	private void setKeys() {
		List<Boolean> reads = new ArrayList<>();
		for (int p = 0; p < this.policies.size() && this.shape.stateKeys() > 0; p++) {
			boolean isRead = isSet(this.policies.get(p), "READS_");
			reads.addAll(Collections.nCopies(this.shape.blocks().get(p).size(), isRead));
		}
		int keys = denialsKey(this.policies.size());
		int firstRead = 1 + (reads.contains(true) ? reads.indexOf(true) : reads.size());
		set(this.words, "ALL_READ_", !reads.contains(false));
		set(this.words, "SOME_READ_", firstRead <= keys);
		this.words.put("READ_", Integer.toString(firstRead));
		this.words.put("KEYS_", Integer.toString(keys));
		this.words.put("SLOTS_", Integer.toString(this.shape.slots()));
		this.words.put("ALL_BLOCKS_",
				this.shape.blocks().stream().flatMap(List::stream).map(this::blocks).collect(Collectors.joining(", ")));
	}

	/** Returns the number of Redis keys before those of the denials in a policy. */
	private int denialsKey(int p) {
		int key = this.shape.stateKeys()
				+ (this.operation.readsBlocks(this.shape.scope()) ? this.shape.identifiers() : 0);
		for (int before = 0; before < p; before++) {
			boolean has = this.shape.penalizes(this.shape.policies().get(before));
			key += has ? this.shape.blocks().get(before).size() : 0;
		}
		return key;
	}

	private String blocks(int identifier) {
		return Integer.toString(this.shape.stateKeys() + identifier + 1);
	}

	/** Returns the request; one of its parts is the same as the only one in its call. */
	Context request() {
		Context request = request(false);
		request.parts().put("each alone_", this.large ? List.of() : List.of(request(true)));
		return request;
	}

	private Context request(boolean alone) {
		List<Context> all = new ArrayList<>();
		List<Context> enforced = new ArrayList<>();
		List<Context> shadows = new ArrayList<>();
		for (int p = 0, slot = 1; p < this.policies.size(); slot += this.shape.blocks().get(p++).size()) {
			List<Context> slots = slots(p, slot, alone);
			all.addAll(slots);
			if (this.shape.policies().get(p).shadow()) {
				shadows.add(decided(true, slots));
			}
			else {
				enforced.addAll(slots);
			}
		}
		Context request = decided(false, enforced);
		set(request.words(), "ALONE_", alone);
		request.parts().put("each slot_", all);
		request.parts().put("each shadow_", shadows);
		return request;
	}

	private Context decided(boolean shadow, List<Context> slots) {
		Map<String, String> words = new HashMap<>(this.words);
		set(words, "SHADOW_", shadow);
		set(words, "DECIDED_", this.shape.stateKeys() > 0 && !slots.isEmpty());
		Map<String, List<Context>> parts = new HashMap<>();
		parts.put("each decided_", slots);
		parts.put("every_", slots.stream().flatMap((slot) -> slot.limits().stream()).toList());
		return new Context(Fragment.REQUEST, "do\n", words, parts);
	}

	/** Returns the identifiers of a policy, or a loop over them. */
	private List<Context> slots(int p, int first, boolean alone) {
		List<Integer> identifiers = this.shape.blocks().get(p);
		if (this.large) {
			String loop = "for s_ = %s, %s do\nlocal v_ = x_[s_]\n".formatted(first, first + identifiers.size() - 1);
			String denials = "s_ + " + (denialsKey(p) + 1 - first);
			return List.of(slot(p, loop, "v_.", "s_", "blocks_[s_]", denials, alone));
		}
		return IntStream.range(0, identifiers.size())
			.mapToObj((i) -> slot(p, "do\n", "s" + (first + i) + '_', Integer.toString(first + i),
					blocks(identifiers.get(i)), Integer.toString(denialsKey(p) + 1 + i), alone))
			.toList();
	}

	private Context slot(int p, String begin, String prefix, String key, String blocks, String denials, boolean alone) {
		Context policy = this.policies.get(p);
		Map<String, String> variables = new HashMap<>(Fragment.REQUEST.names());
		variables.putAll(policy.fragment().names());
		Map<String, String> words = new HashMap<>(this.words);
		words.putAll(policy.words());
		set(words, "ALONE_", alone);
		set(words, "REREADS_", !alone && isSet(policy, "READS_"));
		words.put("KEY_", alone ? key : "k_ + " + key);
		words.put("BLOCKS_", alone ? blocks : "k_ + " + blocks);
		words.put("DENIALS_", alone ? denials : "k_ + " + denials);
		List.of("cost", "change_")
			.forEach((name) -> words.put(name, this.numbers.getOrDefault(prefix(p) + name, name)));
		OF_LIMIT.forEach((name) -> words.put(name, ""));
		variables.forEach((name, kind) -> words.put(name, kind.equals("slot") ? prefix + name : ""));
		List<Context> limits = new ArrayList<>();
		for (Context limit : policy.limits()) {
			limits.add(limit(words, limit, variables, prefix));
		}
		return new Context(policy.fragment(), begin, words, parts(limits));
	}

	private Context limit(Map<String, String> slot, Context limit, Map<String, String> kinds, String prefix) {
		Map<String, String> words = new HashMap<>(slot);
		words.putAll(limit.words());
		kinds.forEach((name, kind) -> {
			if (kind.equals("limit")) {
				words.put(name, prefix + name + '_' + words.get("INDEX"));
			}
		});
		Map<String, String> reset = new HashMap<>(words);
		reset.put("cost", "one_more_");
		reset.put("wait", reset.get("reset_"));
		Map<String, List<Context>> parts = new HashMap<>();
		parts.put("each reset_", List.of(new Context(limit.fragment(), "do\n", reset, parts)));
		return new Context(limit.fragment(), "do\n", words, parts);
	}

}
