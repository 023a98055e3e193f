package io.github.ratelimit.redis.script;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * Writes how one request is decided: for each policy and identifier the same lines, one
 * after the other. Only where there are very many of them, each policy has loops over its
 * identifiers instead.
 */
final class RequestWriter {

	/** Stands for the state where it is only sought whether a fragment names it. */
	private static final String STATE = "@state";

	private final Shape shape;

	private final List<Fragment> fragments;

	private final Names names;

	private final Functions functions;

	private final Set<String> libraries;

	/** First and last policy and identifier whose states are not read here. */
	private final List<int[]> unread = new ArrayList<>();

	private final StringBuilder lua = new StringBuilder();

	RequestWriter(Shape shape, List<Fragment> fragments, Names names, Functions functions, Set<String> libraries) {
		this.shape = shape;
		this.fragments = fragments;
		this.names = names;
		this.functions = functions;
		this.libraries = libraries;
	}

	/** Writes the body of a function that returns the reply. */
	String write() {
		List<String> numbers = this.names.numbers();
		String format = "'>" + "d".repeat(numbers.size()) + "', a_)";
		if (this.names.isFlat()) {
			line("local n_ = {struct_unpack(" + format + "}");
			for (String name : List.of("now", "since", "most", "before")) {
				if (numbers.contains(name)) {
					line("local %s = n_[%d]".formatted(name, numbers.indexOf(name) + 1));
				}
			}
		}
		else {
			line("local " + String.join(", ", numbers) + " = struct_unpack(" + format);
		}
		if (this.shape.scope() != Scope.BLOCKS) {
			eachSlot(this::load);
		}
		switch (this.shape.operation()) {
			case REFUND -> eachSlot((words, place) -> refund(words));
			case CHARGE -> eachSlot((words, place) -> charge(words));
			case HISTORY -> {
				line("local history = {}");
				eachSlot((words, place) -> section(words, "history"));
				line("return history");
			}
			default -> decide();
		}
		if (!this.shape.operation().decides() && this.shape.operation() != Operation.HISTORY) {
			line("return '\\1'");
		}
		return this.lua.toString();
	}

	/** First and last policy and identifier whose states fragments read by themselves. */
	List<int[]> unread() {
		return this.unread;
	}

	private void decide() {
		Operation operation = this.shape.operation();
		boolean counts = this.shape.scope() != Scope.BLOCKS;
		line("local blocked, fits, possible = 0, true, true");
		if (counts && operation == Operation.CANCEL) {
			eachSlot((words, place) -> refund(words));
		}
		if (this.shape.isBlockable()) {
			eachSlot(this::block);
		}
		if (counts) {
			eachSlot((words, place) -> waits(words));
		}
		line("local allowed = fits and blocked == 0");
		List<String> answer = new ArrayList<>(List.of("allowed and 1 or 0", "blocked"));
		if (operation == Operation.HOLD) {
			answer.add("now");
		}
		if (this.names.isFlat()) {
			line("out_[1] = " + pack("B", answer));
			answer.clear();
		}
		if (counts) {
			eachSlot((words, place) -> {
				if (operation.acquires()) {
					acquire(words);
				}
				answer.addAll(report(words));
				if (this.names.isFlat()) {
					line("out_[#out_ + 1] = " + pack("", answer));
					answer.clear();
				}
			});
		}
		line("return " + (this.names.isFlat() ? "table.concat(out_)" : pack("B", answer)));
	}

	private static String pack(String first, List<String> numbers) {
		return "struct_pack('>%s%s', %s)".formatted(first, "d".repeat(numbers.size() - first.length()),
				String.join(", ", numbers));
	}

	private void load(SlotWords words, Place place) {
		boolean reads = reads(words);
		if (!reads && !this.names.isFlat()) {
			this.unread.add(new int[] { words.slot() + 1, words.slot() + 1 });
		}
		else if (!reads) {
			this.unread.add(new int[] { words.slot() + 1, words.slot() + this.shape.blocks().get(words.p()).size() });
		}
		String key = words.variable("key", 0);
		line(key + " = keys[k_ + " + place.key() + "]");
		line("do");
		if (reads) {
			line("local state = written[" + key + "]");
			line("if state == nil then state = values[k_ + " + place.key() + "] end");
		}
		if (refunds()) {
			line(words.variable("stored", 0) + " = " + (reads ? "state" : "true"));
		}
		line(words.variable("corrected", 0) + " = false");
		section(words, "load");
		line("end");
	}

	private boolean refunds() {
		return this.shape.operation() == Operation.REFUND || this.shape.operation() == Operation.CANCEL;
	}

	/** Whether a fragment wants its state, and does not read it by itself. */
	private boolean reads(SlotWords words) {
		StringBuilder load = new StringBuilder();
		new Template(limits(words), words.with(Map.of("state", STATE)))
			.write(words.fragment().sections().getOrDefault("load", List.of()), 0, load);
		return load.indexOf(STATE) >= 0;
	}

	/** For how long the identifier is blocked, in the policy or in all. */
	private void block(SlotWords words, Place place) {
		line("""
				do
				local blocks = values[k_ + %s]
				if blocks then
				local policy, at = nil, %d
				for i = 1, %d do policy, at = struct_unpack('s', a_, at) end
				at = 1
				while at + 8 <= #blocks do
				local till, length = struct_unpack('>I7I2', blocks, at)
				local name = string.sub(blocks, at + 9, at + 8 + length)
				if (name == '' or name == policy) and till - now > blocked then blocked = till - now end
				at = at + 9 + length
				end
				end
				end""".formatted(place.blocks(), 8 * this.names.numbers().size() + 1, words.p() + 1));
	}

	private void waits(SlotWords words) {
		String cost = words.of("cost", 0, 0);
		for (int i = 1; i <= limits(words); i++) {
			String wait = words.variable("wait", i);
			line(wait + " = 0");
			line("if %s > %s then %s, fits, possible = -1, false, false elseif %s > 0 then".formatted(cost,
					words.largest(i), wait, cost));
			section(words, "wait", i);
			line("if " + wait + " ~= 0 then fits = false end end");
			if (isCountDenied(words)) {
				line(words.variable("violated", i) + " = " + wait + " ~= 0 and 1 or 0");
			}
		}
	}

	private void acquire(SlotWords words) {
		String counts = words.variable("counts", 0);
		String cost = words.of("cost", 0, 0);
		line("%s = %s and %s > 0".formatted(counts,
				isCountDenied(words) ? "(allowed or (possible and blocked == 0))" : "allowed", cost));
		line("if " + counts + " then");
		section(words, "add");
		line("end");
		// A state from a clock that was set back would stay ahead.
		line("if %s or (%s and %s > 0) then".formatted(counts, words.variable("corrected", 0), cost));
		save(words);
		line("end");
		if (isCountDenied(words)) {
			line("if " + counts + " and not allowed then");
			for (int i = 1; i <= limits(words); i++) {
				line(words.variable("wait", i) + " = 0");
				section(words, "wait", i);
			}
			line("end");
		}
	}

	private void charge(SlotWords words) {
		line("if " + words.of("cost", 0, 0) + " > 0 then");
		section(words, "add");
		save(words);
		line("end");
	}

	private void refund(SlotWords words) {
		line("if %s > 0 and %s%s then".formatted(words.of("cost", 0, 0), words.variable("stored", 0),
				(this.shape.operation() == Operation.CANCEL)
						? " and " + this.names.number(words.p(), "stays", 0) + " == 0" : ""));
		section(words, "refund");
		save(words);
		line("end");
	}

	private void save(SlotWords words) {
		String key = words.variable("key", 0);
		line("local ttl = 0");
		section(words, "ttl");
		line("if ttl > 0 then");
		line("local state");
		section(words, "state");
		if (this.shape.handsInTime()) {
			// The server's clock does not follow a clock that is handed in.
			line("local expiry = math_ceil(ttl / 1000)");
			line("if expiry < 60000 then expiry = 60000 end");
		}
		else {
			// By the moment: the time that is left would be rounded up again with each
			// refund.
			line("local expiry = math_ceil((now + ttl) / 1000)");
		}
		line("if state then redis_call('SET', %s, state, '%s', expiry)".formatted(key,
				this.shape.handsInTime() ? "PX" : "PXAT"));
		line("else redis_call('%s', %s, expiry) state = several and redis_call('MGET', %s)[1] end"
			.formatted(this.shape.handsInTime() ? "PEXPIRE" : "PEXPIREAT", key, key));
		line("if several then written[" + key + "] = state end");
		line("else redis_call('DEL', %s) written[%s] = false end".formatted(key, key));
	}

	/** How each limit stands. */
	private List<String> report(SlotWords words) {
		List<String> numbers = new ArrayList<>();
		for (int i = 1; i <= limits(words); i++) {
			String remaining = words.variable("remaining", i);
			String reset = words.variable("reset", i);
			line(remaining + ", " + reset + " = 0, 0");
			section(words, "remaining", i);
			// More quota has arrived when one more than what remains would be allowed.
			line("if " + remaining + " < " + words.largest(i) + " then");
			line("local one_more = " + remaining + " + 1");
			section(words.with(Map.of("cost", "one_more", "wait", reset)), "wait", i);
			line("end");
			numbers.addAll(List.of(remaining, reset, words.variable("wait", i)));
			if (isCountDenied(words)) {
				numbers.add(words.variable("violated", i));
			}
		}
		return numbers;
	}

	private boolean isCountDenied(SlotWords words) {
		return this.shape.operation().acquires() && this.shape.policies().get(words.p()).countDenied();
	}

	private int limits(SlotWords words) {
		return this.shape.policies().get(words.p()).limits();
	}

	private void section(SlotWords words, String name) {
		section(words, name, 0);
	}

	/** A section in a block of its own. */
	private void section(SlotWords words, String name, int limit) {
		line("do");
		new Template(limits(words), words).write(words.fragment().sections().getOrDefault(name, List.of()), limit,
				this.lua);
		line("end");
	}

	/**
	 * Where the Redis keys of a policy and identifier are among those of the request.
	 */
	private record Place(String key, String blocks) {

	}

	/** Writes something for each policy and identifier. */
	private void eachSlot(BiConsumer<SlotWords, Place> writer) {
		int slot = 0;
		int base = 0;
		for (int p = 0; p < this.fragments.size(); p++) {
			List<Integer> blocks = this.shape.blocks().get(p);
			if (this.names.isFlat()) {
				line("for s_ = 1, %d do local b_ = %d + (s_ - 1) * %d".formatted(blocks.size(), base,
						this.names.width(p)));
				line("local blocks_at_ = ({%s})[s_]".formatted(String.join(",",
						blocks.stream().map((b) -> Integer.toString(this.shape.stateKeys() + b + 1)).toList())));
				writer.accept(words(p, slot), new Place("(" + slot + " + s_)", "blocks_at_"));
				line("end");
			}
			for (int i = 0; i < blocks.size() && !this.names.isFlat(); i++) {
				writer.accept(words(p, slot + i), new Place(Integer.toString(slot + i + 1),
						Integer.toString(this.shape.stateKeys() + blocks.get(i) + 1)));
			}
			slot += blocks.size();
			base += blocks.size() * this.names.width(p);
		}
	}

	private SlotWords words(int p, int slot) {
		return new SlotWords(this.shape, this.fragments.get(p), this.names, p, slot, this.functions.number(p), Map.of(),
				this.libraries);
	}

	private void line(String text) {
		this.lua.append(text).append('\n');
	}

}
