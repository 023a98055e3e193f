package io.github.ratelimit.redis.script;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.CommandCall;
import io.github.ratelimit.redis.connection.Servers;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/**
 * Creates the calls of scripts for requests. Composes each script once, and caches a
 * bounded number of them. Safe for use by several threads.
 */
public final class Scripts {

	/** The size of each cache; a full cache is cleared. */
	private static final int MOST = 1000;

	/** The largest number of identifiers for which a policy keeps its scripts. */
	private static final int FEW = 4;

	/** More than any cost that could be allowed. */
	private static final long LARGEST_COST = Limit.MAX_QUOTA + 1;

	/** The package of the algorithms whose scripts are known to be valid. */
	private static final String LIBRARY = Algorithm.class.getPackageName() + ".algorithm";

	private static final int OPERATIONS = Operation.values().length;

	private static final long[] NONE = {};

	private final RedisKeys keys;

	private final Servers servers;

	private final InstantSource clock;

	private final boolean customClock;

	private final Map<Policy, PolicyCode> policies = new ConcurrentHashMap<>();

	private final Map<Shape, Script> scripts = new ConcurrentHashMap<>();

	private Scripts(RedisKeys keys, Servers servers, InstantSource clock, boolean customClock) {
		this.keys = keys;
		this.servers = servers;
		this.clock = clock;
		this.customClock = customClock;
	}

	/** Creates an instance that uses the clock of the server. */
	public Scripts(RedisKeys keys, Servers servers) {
		this(keys, servers, InstantSource.system(), false);
	}

	/** Returns an instance that uses a clock of this process. */
	public Scripts withClock(InstantSource clock) {
		return new Scripts(this.keys, this.servers, clock, true);
	}

	/**
	 * Checks the script of a policy whose algorithm is not one of the library.
	 * @throws IllegalArgumentException if it is missing or cannot be composed
	 */
	public void requireComposable(Policy policy) {
		if (!policy.algorithm().getClass().getPackageName().equals(LIBRARY)) {
			for (Operation operation : Operation.values()) {
				Charge charge = Charge.of(policy, Identifier.GLOBAL);
				script(operation, Scope.ALL, List.of(charge), codes(List.of(charge)), charge.identifiers());
			}
		}
	}

	/**
	 * Returns a call for a request whose Redis keys are in one slot. Not for
	 * {@link Operation#CANCEL} and {@link Operation#HISTORY}.
	 */
	public ScriptCall call(Operation operation, Scope scope, RateLimitRequest request, long deadline) {
		return call(operation, scope, request, NONE, null, deadline);
	}

	/**
	 * Returns a call that cancels a reservation.
	 * @param stays the charges that remain counted
	 * @param reservedAt {@link Answer#reservedAt()} of the reservation
	 */
	public ScriptCall cancel(RateLimitRequest request, Scope scope, Predicate<Charge> stays, long reservedAt,
			long deadline) {
		return call(Operation.CANCEL, scope, request, new long[] { reservedAt }, stays, deadline);
	}

	/**
	 * Returns a call that reads what a policy has stored, for
	 * {@link ScriptCall#entries()} or {@link ScriptCall#series()}.
	 * @param most the largest number of requests to read
	 * @param before reads only requests before this time; {@code null} for the newest
	 */
	public ScriptCall history(Policy policy, Identifier identifier, int most, @Nullable Instant before, long deadline) {
		long micros = (before != null) ? Math.min(Meter.micros(before), LARGEST_COST) : LARGEST_COST;
		return call(Operation.HISTORY, Scope.ALL, RateLimitRequest.of(policy, identifier), new long[] { most, micros },
				null, deadline);
	}

	/**
	 * Returns a call that deletes the count of an identifier in a policy, and its
	 * denials.
	 */
	public Call reset(Policy policy, Identifier identifier, long deadline) {
		byte[] key = this.keys.key(identifier, policy);
		// Two commands, because a node whose slot is moving cannot use several keys at
		// once.
		List<CommandArguments> commands = Stream
			.of(key, (policy.penalty() != null) ? this.keys.key(identifier, RedisKeys.denialsSuffix(policy)) : null)
			.filter(Objects::nonNull)
			.map((each) -> new CommandArguments(Command.DEL).key(each))
			.toList();
		return new CommandCall((source) -> commands, 1, this.servers.slot(key), deadline);
	}

	/** Returns a call that counts denials of identifiers in one slot. */
	public ScriptCall countDenials(Charge denials, long deadline) {
		return call(Operation.COUNT_DENIALS, Scope.BLOCKS, RateLimitRequest.of(denials), deadline);
	}

	private ScriptCall call(Operation operation, Scope scope, RateLimitRequest request, long[] first,
			@Nullable Predicate<Charge> stays, long deadline) {
		List<Charge> charges = request.charges();
		PolicyCode[] codes = codes(charges);
		List<Identifier> identifiers = (codes.length == 1) ? charges.get(0).identifiers()
				: charges.stream().flatMap((charge) -> charge.identifiers().stream()).distinct().toList();
		Script script = script(operation, scope, charges, codes, identifiers);
		boolean hasBlocks = operation.decides() && scope != Scope.COUNTS;
		byte[][] keys = keys(charges, codes, identifiers, scope != Scope.BLOCKS, hasBlocks);
		if (hasBlocks && hasPenalty(charges)) {
			keys = withDenials(keys, operation, scope, charges, codes);
		}
		byte[] metadata = script.metadata ? request.metadata().getBytes(StandardCharsets.UTF_8) : null;
		long[] numbers = script.call ? append(first, request.call()) : first;
		byte[] argument = argument(charges, codes, numbers, stays, hasBlocks, metadata);
		return new ScriptCall(script, operation, scope, request, keys, argument, this.servers.slot(keys[0]), deadline);
	}

	private PolicyCode[] codes(List<Charge> charges) {
		PolicyCode[] codes = new PolicyCode[charges.size()];
		for (int c = 0; c < codes.length; c++) {
			codes[c] = find(this.policies, charges.get(c).policy(), PolicyCode::new);
		}
		return codes;
	}

	private Script script(Operation operation, Scope scope, List<Charge> charges, PolicyCode[] codes,
			List<Identifier> identifiers) {
		if (codes.length > 1 || scope != Scope.ALL || charges.get(0).shadow() || identifiers.size() > FEW) {
			return find(this.scripts, shape(operation, scope, charges, codes, identifiers), Composer::compose);
		}
		// The usual case, without creating a shape.
		Integer form = identifiers.size() * OPERATIONS + operation.ordinal();
		Script script = codes[0].scripts.get(form);
		if (script == null) {
			script = find(this.scripts, shape(operation, scope, charges, codes, identifiers), Composer::compose);
			codes[0].scripts.put(form, script);
		}
		return script;
	}

	private Shape shape(Operation operation, Scope scope, List<Charge> charges, PolicyCode[] codes,
			List<Identifier> identifiers) {
		List<Shape.OfPolicy> policies = new ArrayList<>();
		List<List<Integer>> blocks = new ArrayList<>();
		for (int c = 0; c < codes.length; c++) {
			policies.add(codes[c].shape(charges.get(c).shadow() && operation.decides()));
			blocks.add(charges.get(c).identifiers().stream().map(identifiers::indexOf).toList());
		}
		return new Shape(operation, scope, this.customClock, policies, blocks);
	}

	private <K, V> V find(Map<K, V> known, K key, Function<K, V> maker) {
		V value = known.get(key);
		if (value == null) {
			if (known.size() >= MOST) {
				known.clear();
				// They keep scripts, which must be the same for all policies of a shape.
				this.policies.clear();
			}
			value = known.computeIfAbsent(key, maker);
		}
		return value;
	}

	/** Returns the Redis keys of counts, then those of blocks. */
	private byte[][] keys(List<Charge> charges, PolicyCode[] codes, List<Identifier> identifiers, boolean hasStates,
			boolean hasBlocks) {
		int states = 0;
		for (int c = 0; hasStates && c < codes.length; c++) {
			states += charges.get(c).identifiers().size();
		}
		byte[][] keys = new byte[states + identifiers.size()][];
		for (int i = 0; i < identifiers.size(); i++) {
			keys[states + i] = this.keys.blocks(identifiers.get(i));
		}
		int at = 0;
		for (int c = 0; hasStates && c < codes.length; c++) {
			List<Identifier> own = charges.get(c).identifiers();
			for (int i = 0; i < own.size(); i++) {
				int blocks = (own == identifiers) ? i : identifiers.indexOf(own.get(i));
				keys[at++] = RedisKeys.withSuffix(keys[states + blocks], codes[c].suffix);
			}
		}
		return hasBlocks ? keys : Arrays.copyOf(keys, states);
	}

	/** Returns whether one of the policies has a penalty. */
	static boolean hasPenalty(List<Charge> charges) {
		for (int c = 0; c < charges.size(); c++) {
			if (charges.get(c).policy().penalty() != null) {
				return true;
			}
		}
		return false;
	}

	/** Adds the Redis keys of the denials that are counted. */
	private byte[][] withDenials(byte[][] keys, Operation operation, Scope scope, List<Charge> charges,
			PolicyCode[] codes) {
		List<byte[]> all = new ArrayList<>(List.of(keys));
		for (int c = 0; c < codes.length; c++) {
			Charge charge = charges.get(c);
			if (operation.penalizes(scope, charge)) {
				for (Identifier identifier : charge.identifiers()) {
					all.add(this.keys.key(identifier, codes[c].denialsSuffix));
				}
			}
		}
		return all.toArray(byte[][]::new);
	}

	private static long[] append(long[] numbers, long last) {
		long[] appended = Arrays.copyOf(numbers, numbers.length + 1);
		appended[numbers.length] = last;
		return appended;
	}

	/** Returns the numbers in the order of {@link Words}, names, and metadata. */
	private byte[] argument(List<Charge> charges, PolicyCode[] codes, long[] first, @Nullable Predicate<Charge> stays,
			boolean named, byte @Nullable [] metadata) {
		int numbers = first.length + codes.length + (this.customClock ? 1 : 0) + ((stays != null) ? codes.length : 0)
				+ ((metadata != null) ? 1 : 0);
		int length = Double.BYTES * numbers + ((metadata != null) ? metadata.length : 0);
		for (PolicyCode code : codes) {
			length += code.numbers(this.clock).length + (named ? code.name.length : 0);
		}
		ByteBuffer argument = ByteBuffer.allocate(length);
		if (this.customClock) {
			argument.putDouble(Meter.micros(this.clock.instant()));
		}
		for (long number : first) {
			argument.putDouble(number);
		}
		if (metadata != null) {
			argument.putDouble(metadata.length);
		}
		for (int c = 0; c < codes.length; c++) {
			argument.putDouble(Math.min(charges.get(c).cost(), LARGEST_COST));
			if (stays != null) {
				argument.putDouble(stays.test(charges.get(c)) ? 1 : 0);
			}
			argument.put(codes[c].numbers(this.clock));
		}
		for (int c = 0; named && c < codes.length; c++) {
			argument.put(codes[c].name);
		}
		return ((metadata != null) ? argument.put(metadata) : argument).array();
	}

}
