package io.github.ratelimit.redis.script;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.ratelimit.redis.script.Shape.OfPolicy;

/**
 * Composes the script of a shape out of the fragments of its algorithms: for each policy
 * and identifier the same lines, one after the other. Only where there are very many of
 * them, each policy has loops over its identifiers instead.
 */
final class Composer {

	private static final Pattern METADATA = Pattern.compile("\\bmetadata\\b");

	private static final Pattern PLACE = Pattern.compile("\\bk_ \\+ (\\d+)");

	/** What a declaration of a function or of constants begins with. */
	private static final Pattern DECLARED = Pattern.compile("local (?:function )?([\\w, ]+?)(?:\\(| =)");

	private final Shape shape;

	private final List<Fragment> fragments;

	private final Names names;

	private final Set<String> libraries = new TreeSet<>();

	/** One declaration each. */
	private final List<String> functions = new ArrayList<>();

	/** Numbers of functions by where they come from. */
	private final Map<List<Object>, Integer> functionNumbers = new HashMap<>();

	/** First and last policy and identifier whose states are not read here. */
	private final List<int[]> unread = new ArrayList<>();

	private final StringBuilder lua = new StringBuilder();

	private Composer(Shape shape) {
		this.shape = shape;
		this.fragments = shape.policies()
			.stream()
			.map((policy) -> Fragment.read(policy.neighbour(), policy.fragment()))
			.toList();
		this.names = new Names(shape, this.fragments);
	}

	/**
	 * Composes a script.
	 * @throws IllegalArgumentException if a fragment is not of the form
	 */
	static Source compose(Shape shape) {
		return new Composer(shape).compose();
	}

	/**
	 * A script.
	 *
	 * @param metadata whether each request has its metadata as a second argument
	 */
	record Source(String lua, boolean metadata) {

	}

	private Source compose() {
		body();
		String body = this.lua.toString();
		this.lua.setLength(0);
		boolean metadata = METADATA.matcher(body).find();
		head(metadata ? 2 : 1);
		this.lua.append(usedFunctions(body));
		if (!this.names.isFlat()) {
			// A request alone needs no functions, which cost as much as the decision.
			line(metadata ? "if #arguments == 2 then" : "if #arguments == 1 then");
			line("local a_, metadata = arguments[1], arguments[2]");
			locals();
			this.lua.append(PLACE.matcher(body).replaceAll("$1").replaceFirst("\\nreturn (.*)\n$", "\nreturn {$1}\n"));
			line("end");
		}
		line("local function decide(k_, a_, metadata)");
		locals();
		this.lua.append(body);
		line("end");
		foot(metadata ? 2 : 1);
		return new Source(this.lua.toString(), metadata);
	}

	private void locals() {
		if (this.names.isFlat()) {
			line("local x_, out_ = {}, {}");
		}
		else if (!this.names.locals().isEmpty()) {
			line("local " + String.join(", ", this.names.locals()));
		}
	}

	/** Leaves out functions that nothing needs, because making them takes time. */
	private String usedFunctions(String body) {
		String used = body;
		StringBuilder kept = new StringBuilder();
		for (int i = this.functions.size() - 1; i >= 0; i--) {
			String function = this.functions.get(i);
			Matcher names = DECLARED.matcher(function);
			String text = used;
			if (names.lookingAt() && Arrays.stream(names.group(1).split(", "))
				.anyMatch((name) -> Pattern.compile("\\b" + name + "\\b").matcher(text).find())) {
				kept.insert(0, function);
				used += function;
			}
		}
		return kept.toString();
	}

	/** What is done once for all requests. */
	private void head(int stride) {
		this.libraries.addAll(Set.of("redis.call", "struct.unpack", "struct.pack", "math.ceil"));
		line("-- Each request has %d Redis keys and %d arguments: numbers and names, metadata.".formatted(keys(),
				stride));
		line("local keys, arguments = KEYS, ARGV");
		this.libraries.forEach((name) -> line("local %s = %s".formatted(name.replace('.', '_'), name)));
		if (!this.shape.handsInTime()) {
			line("local time = redis_call('TIME')");
			line("local now = time[1] * 1000000 + time[2]");
		}
		line("local several, written, values = #arguments > %d, {}, {}".formatted(stride));
		if (this.unread.isEmpty()) {
			line("values = redis_call('MGET', unpack(keys))");
		}
		else if (firstRead() <= keys()) {
			line("for k = 1, #keys do values[k] = keys[k] end");
			line("for k = 0, #keys - 1, %d do".formatted(keys()));
			for (int[] range : this.unread) {
				line("for j = %d, %d do values[k + j] = keys[k + %d] end".formatted(range[0], range[1], firstRead()));
			}
			line("end");
			line("values = redis_call('MGET', unpack(values))");
		}
	}

	/** The first Redis key of a request that is read here. */
	private int firstRead() {
		int first = 1;
		for (int[] range : this.unread) {
			first = (range[0] <= first) ? range[1] + 1 : first;
		}
		return first;
	}

	/** Decides one request after the other. What fails in one is its own. */
	private void foot(int stride) {
		line("""
				local replies = {}
				for r = 1, #arguments / %1$d do
				local done, reply = pcall(decide, (r - 1) * %2$d, %3$s)
				if not done then reply = tostring(type(reply) == 'table' and reply.err or reply) end
				replies[r] = reply
				end
				return replies""".formatted(stride, keys(),
				(stride > 1) ? "arguments[2 * r - 1], arguments[2 * r]" : "arguments[r]"));
	}

	private int keys() {
		return stateKeys() + (isBlockable() ? blockKeys() : 0);
	}

	private int stateKeys() {
		return (this.shape.scope() == Scope.BLOCKS) ? 0 : this.shape.slots();
	}

	private int blockKeys() {
		return 1 + this.shape.blocks().stream().flatMap(List::stream).mapToInt(Integer::intValue).max().orElse(-1);
	}

	/** Whether the Redis keys of blocks belong to the request. */
	private boolean isBlockable() {
		return this.shape.operation().decides() && this.shape.scope() != Scope.COUNTS;
	}

	private void body() {
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
	}

	private void decide() {
		Operation operation = this.shape.operation();
		boolean counts = this.shape.scope() != Scope.BLOCKS;
		line("local blocked, fits, possible = 0, true, true");
		if (counts && operation == Operation.CANCEL) {
			eachSlot((words, place) -> refund(words));
		}
		if (isBlockable()) {
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
		boolean[] reads = new boolean[1];
		new Template(limits(words), new Template.Words() {

			@Override
			public String of(String word, int limit, int line) {
				reads[0] |= word.equals("state");
				return word;
			}

			@Override
			public boolean isSet(String constant, int limit, int line) {
				return words.isSet(constant, limit, line);
			}

		}).write(words.fragment().sections().getOrDefault("load", List.of()), 0, new StringBuilder());
		return reads[0];
	}

	/** For how long the identifier is blocked, in the policy or in all. */
	private void block(SlotWords words, Place place) {
		line("""
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
				end""".formatted(place.blocks(), 8 * this.names.numbers().size() + 1, words.p() + 1)
			.indent(0)
			.strip()
			.transform((block) -> "do\n" + block + "\nend"));
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
		section(words, words.fragment().sections().containsKey("charge") ? "charge" : "add");
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
				line("local blocks_at_ = ({%s})[s_]".formatted(
						String.join(",", blocks.stream().map((b) -> Integer.toString(stateKeys() + b + 1)).toList())));
				writer.accept(words(p, slot), new Place("(" + slot + " + s_)", "blocks_at_"));
				line("end");
			}
			for (int i = 0; i < blocks.size() && !this.names.isFlat(); i++) {
				writer.accept(words(p, slot + i),
						new Place(Integer.toString(slot + i + 1), Integer.toString(stateKeys() + blocks.get(i) + 1)));
			}
			slot += blocks.size();
			base += blocks.size() * this.names.width(p);
		}
	}

	private SlotWords words(int p, int slot) {
		return new SlotWords(this.shape, this.fragments.get(p), this.names, p, slot, function(p), Map.of(),
				this.libraries);
	}

	/** The number of the functions of a policy, which are written once. */
	private int function(int p) {
		OfPolicy policy = this.shape.policies().get(p);
		Fragment fragment = this.fragments.get(p);
		List<Object> source = List.of(policy.neighbour(), policy.fragment(), policy.constants());
		Integer known = this.functionNumbers.get(source);
		if (known != null) {
			return known;
		}
		int number = this.functionNumbers.size() + 1;
		this.functionNumbers.put(source, number);
		StringBuilder functions = new StringBuilder();
		new Template(policy.limits(),
				new SlotWords(this.shape, fragment, this.names, p, -1, number, Map.of(), this.libraries))
			.write(fragment.sections().getOrDefault("functions", List.of()), 0, functions);
		declare(functions.toString(), fragment, "_" + number);
		return number;
	}

	/** Takes functions and constants apart. */
	private void declare(String functions, Fragment fragment, String suffix) {
		StringBuilder declaration = new StringBuilder();
		for (String line : functions.lines().toList()) {
			Matcher declared = DECLARED.matcher(line);
			if (declared.lookingAt() && !declaration.isEmpty()) {
				String name = declared.group(1).split(", ")[0];
				if (name.endsWith(suffix)
						&& fragment.functionNames().contains(name.substring(0, name.length() - suffix.length()))) {
					this.functions.add(declaration.toString());
					declaration.setLength(0);
				}
			}
			declaration.append(line).append('\n');
		}
		this.functions.add(declaration.toString());
	}

	private void line(String text) {
		this.lua.append(text).append('\n');
	}

}
