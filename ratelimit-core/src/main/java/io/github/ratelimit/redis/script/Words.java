package io.github.ratelimit.redis.script;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

import io.github.ratelimit.redis.script.Composer.Place;
import io.github.ratelimit.redis.script.Fragment.Line;
import io.github.ratelimit.redis.script.Shape.OfPolicy;
import org.jspecify.annotations.Nullable;

/**
 * What the words and constants of fragments and of {@code request.lua} stand for in one
 * script.
 */
final class Words {

	static final Fragment REQUEST = Fragment.ofRequest();

	private final Shape shape;

	private final boolean large;

	/** Numbers that come with each request, in their order: their names, and where. */
	final Map<String, String> numbers = new LinkedHashMap<>();

	/** Those of them that are of no policy. */
	private final String first;

	/** Where the Redis key with the blocks is, for each policy and identifier. */
	private final List<Integer> blocks;

	/** Of which policies the script reads the states, and not the fragment. */
	private final List<Boolean> reads = new ArrayList<>();

	/** Whether requests have their metadata. */
	final boolean metadata;

	/** The variables that were named, if they are locals. */
	final Set<String> locals = new LinkedHashSet<>(Set.of("reply"));

	/** Functions of Lua and Redis that were named. */
	final Set<String> libraries = new TreeSet<>();

	/**
	 * Creates the words of a script.
	 * @param large whether variables and functions are in tables
	 */
	Words(Shape shape, List<Fragment> fragments, boolean large) {
		this.shape = shape;
		this.large = large;
		this.blocks = shape.blocks()
			.stream()
			.flatMap(List::stream)
			.map((block) -> shape.stateKeys() + block + 1)
			.toList();
		boolean metadata = false;
		for (int p = 0; p < fragments.size(); p++) {
			Place place = new Place(fragments.get(p), false, p, -1, 0, false);
			this.reads.add(shape.stateKeys() > 0 && isNamed("state", "load", place));
			metadata |= shape.operation().uses() && isNamed("metadata", "add", place);
		}
		this.metadata = metadata;
		addNumbers(-1, 0, shape.handsInTime() ? List.of("now") : List.of());
		addNumbers(-1, 0, switch (shape.operation()) {
			case CANCEL -> List.of("since");
			case HISTORY -> List.of("most", "before");
			default -> metadata ? List.of("length_") : List.of();
		});
		this.first = this.numbers.isEmpty() ? "_" : String.join(", ", this.numbers.keySet());
		for (int p = 0; p < fragments.size(); p++) {
			addNumbers(p, 0, (shape.operation() == Operation.CANCEL) ? List.of("cost", "stays_") : List.of("cost"));
			for (int i = 1; i <= policy(p).limits(); i++) {
				addNumbers(p, i, policy(p).ownLargest() ? List.of("QUOTA", "LARGEST") : List.of("QUOTA"));
				addNumbers(p, i, fragments.get(p).names("argument").subList(0, policy(p).arguments().get(i - 1)));
			}
		}
	}

	private void addNumbers(int p, int limit, List<String> names) {
		for (String name : names) {
			String number = number(name, p, limit);
			this.numbers.put(number, this.large ? "numbers_[" + (this.numbers.size() + 1) + "]" : number);
		}
	}

	private static String number(String name, int p, int limit) {
		return (p < 0) ? name : "p" + (p + 1) + "_" + name + ((limit > 0) ? "_" + limit : "");
	}

	private boolean isNamed(String name, String section, Place place) {
		Set<String> words = new HashSet<>();
		takeLines(place.fragment().section(section), place, (line, each) -> words.addAll(line.tokens()));
		return words.contains(name);
	}

	/**
	 * Follows the instructions among some lines.
	 * @param taker takes each line that is to be written, and what for
	 */
	void takeLines(List<Line> lines, Place place, BiConsumer<Line, Place> taker) {
		take(lines, 0, place, taker);
	}

	/** Returns where the instruction is that ends what began before. */
	private int take(List<Line> lines, int from, Place place, @Nullable BiConsumer<Line, Place> taker) {
		int at = from;
		for (; at < lines.size(); at++) {
			Line line = lines.get(at);
			switch (line.instruction()) {
				case "else", "end" -> {
					return at;
				}
				case "if", "if not" -> {
					boolean isSo = taker != null && isSet(line, place) == line.instruction().equals("if");
					at = take(lines, at + 1, place, isSo ? taker : null);
					if (lines.get(at).instruction().equals("else")) {
						at = take(lines, at + 1, place, isSo ? null : taker);
					}
				}
				case "each limit", "last limit", "each slot_", "each decided_", "each shadow_" -> {
					int first = at + 1;
					at = take(lines, first, place, null);
					if (taker != null) {
						for (Place each : places(line.instruction(), place)) {
							taker.accept(Line.of(begin(each)), each);
							take(lines, first, each, taker);
							taker.accept(Line.of(" end\n"), each);
						}
					}
				}
				default -> {
					if (taker != null) {
						taker.accept(line, place);
					}
				}
			}
		}
		return at;
	}

	private String begin(Place place) {
		return (!this.large || place.slot() < 0 || place.limit() > 0) ? " do\n"
				: " for s_ = %d, %d do\nlocal v_ = x_[s_]\n".formatted(place.slot() + 1,
						place.slot() + this.shape.blocks().get(place.p()).size());
	}

	/** Returns what something is to be repeated for. */
	List<Place> places(String each, Place place) {
		List<Place> places = new ArrayList<>();
		if (each.equals("every_")) {
			places("each decided_", place).forEach((slot) -> places.addAll(places("each", slot)));
		}
		else if (each.endsWith("_")) {
			boolean isShadow = each.equals("each shadow_");
			for (int p = 0, slot = 0; p < this.shape.blocks().size(); slot += this.shape.blocks().get(p++).size()) {
				int times = isMeant(each, p, place) ? this.shape.blocks().get(p).size() : 0;
				for (int i = 0; i < ((this.large || isShadow) ? Math.min(1, times) : times); i++) {
					places.add(place.slot(p, isShadow ? -1 : slot + i));
				}
			}
		}
		else {
			for (int last = policy(place.p()).limits(), i = each.equals("last limit") ? last : 1; i <= last; i++) {
				places.add(place.limit(i));
			}
		}
		return places;
	}

	/** Policies in shadow mode are decided one by one, and the others together. */
	private boolean isMeant(String each, int p, Place place) {
		return each.equals("each slot_")
				|| ((place.p() < 0) ? policy(p).shadow() == each.equals("each shadow_") : p == place.p());
	}

	private OfPolicy policy(int p) {
		return this.shape.policies().get(p);
	}

	/** Returns what stands for a word that is no function of a fragment. */
	String meaning(String word, Line line, Place place) {
		if (word.indexOf('.') > 0) {
			this.libraries.add(word);
			return word.replace('.', '_');
		}
		String own = word.endsWith("_") ? own(word, place) : null;
		if (own != null || place.p() < 0) {
			return (own != null) ? own : word;
		}
		if (place.slot() < 0) {
			return constant(word, place);
		}
		if (place.reset() && word.equals("cost")) {
			return "one_more_";
		}
		String kind = place.fragment().names().getOrDefault(word, REQUEST.names().getOrDefault(word, ""));
		return switch (kind) {
			case "slot" -> variable(word, place.limit(0));
			case "limit" ->
				variable((place.reset() && word.equals("wait")) ? "reset_" : word, ofLimit(word, line, place));
			case "argument" -> number(word, ofLimit(word, line, place));
			default -> builtIn(word, line, place);
		};
	}

	private String builtIn(String word, Line line, Place place) {
		OfPolicy policy = policy(place.p());
		return switch (word) {
			case "cost" -> number(word, place.limit(0));
			case "QUOTA" -> number(word, ofLimit(word, line, place));
			case "LARGEST" -> number(policy.ownLargest() ? word : "QUOTA", ofLimit(word, line, place));
			case "WINDOW" -> Long.toString(policy.windows().get(ofLimit(word, line, place).limit() - 1));
			case "INDEX" -> Integer.toString(ofLimit(word, line, place).limit());
			case "LIMITS" -> Integer.toString(policy.limits());
			case "LONGEST" -> Long.toString(policy.windows().get(policy.limits() - 1));
			default -> constant(word, place);
		};
	}

	/** What stands for a word of {@code request.lua}. */
	private @Nullable String own(String word, Place place) {
		return switch (word) {
			case "KEYS_" -> Integer.toString(keys());
			case "SLOTS_" -> Integer.toString(this.shape.slots());
			case "READ_" -> Integer.toString(firstRead());
			case "FORMAT_" -> "'>" + "d".repeat(this.numbers.size()) + "'";
			case "NUMBERS_" -> String.join(", ", this.numbers.keySet());
			case "FIRST_" -> this.first;
			case "NAMES_" -> Integer.toString(Double.BYTES * this.numbers.size() + 1);
			case "POLICY_" -> Integer.toString(place.p() + 1);
			case "KEY_" -> key(this.large ? "s_" : Integer.toString(place.slot() + 1), place);
			case "BLOCKS_" -> key(this.large ? "blocks_[s_]" : this.blocks.get(place.slot()).toString(), place);
			case "ALL_BLOCKS_" -> this.blocks.stream().map(String::valueOf).collect(Collectors.joining(", "));
			case "stays_" -> number(word, place);
			default -> null;
		};
	}

	private int keys() {
		return this.shape.isBlockable() ? Collections.max(this.blocks) : this.shape.stateKeys();
	}

	private static String key(String index, Place place) {
		return place.alone() ? index : "k_ + " + index;
	}

	/** The first Redis key of a request that is read together with those of others. */
	private int firstRead() {
		int slot = 1;
		for (int p = 0; p < this.reads.size() && !this.reads.get(p) && this.shape.stateKeys() > 0; p++) {
			slot += this.shape.blocks().get(p).size();
		}
		return slot;
	}

	private String variable(String name, Place place) {
		String variable = (place.limit() > 0) ? name + "_" + place.limit() : name;
		if (this.large) {
			return "v_." + variable;
		}
		String local = "s" + (place.slot() + 1) + "_" + variable;
		this.locals.add(local);
		return local;
	}

	private String number(String name, Place place) {
		return Objects.requireNonNull(this.numbers.get(number(name, place.p(), place.limit())));
	}

	private static Place ofLimit(String word, Line line, Place place) {
		if (place.limit() == 0) {
			throw place.fragment()
				.invalid(line.number(), "'%s' is of one limit, and this is about all of them.".formatted(word));
		}
		return place;
	}

	private String constant(String word, Place place) {
		Number number = constants(place).get(word);
		return (number != null) ? number.toString() : word;
	}

	private Map<String, Number> constants(Place place) {
		return policy(place.p()).constants().get(place.limit());
	}

	private boolean isSet(Line line, Place place) {
		Boolean own = isSet(line.about(), place);
		Number number = (own == null) ? constants(place).get(line.about()) : Integer.valueOf(own ? 1 : 0);
		if (number == null) {
			throw place.fragment()
				.invalid(line.number(), "there is no constant '%s', but %s.".formatted(line.about(),
						new TreeSet<>(constants(place).keySet())));
		}
		return number.doubleValue() != 0;
	}

	/** What is so of the request; {@code null} if the algorithm says what is so. */
	private @Nullable Boolean isSet(String constant, Place place) {
		Operation operation = this.shape.operation();
		return switch (constant) {
			case "CANCEL", "CHARGE", "HOLD_", "HISTORY_" -> constant.startsWith(operation.name());
			case "DECIDES_" -> operation.decides();
			case "ACQUIRES_" -> operation.acquires();
			case "GIVES_BACK_" -> operation == Operation.REFUND || operation == Operation.CANCEL;
			case "HANDED_IN_" -> this.shape.handsInTime();
			case "BLOCKABLE_" -> this.shape.isBlockable();
			case "COUNTS_" -> this.shape.stateKeys() > 0;
			case "DECIDED_" -> this.shape.stateKeys() > 0 && !places("every_", place).isEmpty();
			case "SHADOW_" -> place.p() >= 0 && policy(place.p()).shadow();
			case "COUNT_DENIED_" -> policy(place.p()).countsDenied(operation);
			case "READS_" -> this.reads.get(place.p());
			case "REREADS_" -> this.reads.get(place.p()) && !place.alone();
			case "ALL_READ_" -> this.shape.stateKeys() == 0 || !this.reads.contains(false);
			case "SOME_READ_" -> firstRead() <= keys();
			case "METADATA_" -> this.metadata;
			case "LARGE_" -> this.large;
			case "ALONE_" -> place.alone();
			default -> null;
		};
	}

}
