package io.github.ratelimit.redis.script;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Interner;
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

	/** The size of each cache; a full cache forgets what is used least. */
	private static final int MOST = 1000;

	/** More than any cost that could be allowed. */
	private static final long LARGEST_COST = Limit.MAX_QUOTA + 1;

	private static final String LIBRARY = Algorithm.class.getPackageName() + ".algorithm";

	private static final int OPERATIONS = Operation.values().length;

	private static final long[] NONE = {};

	private static final byte[] NO_METADATA = {};

	private final RedisKeys keys;

	private final Servers servers;

	private final InstantSource clock;

	private final boolean customClock;

	private final Function<Shape, Script> composer;

	private final Cache<Policy, PolicyCode> policies = cache();

	/** By shape, or by what stands for it if a request has one policy. */
	private final Cache<Object, Script> scripts = cache();

	/** Makes policies of one shape share it, so that it need not be compared. */
	private final Interner<Shape.OfPolicy> shapes = Interner.newWeakInterner();

	public Scripts(RedisKeys keys, Servers servers, @Nullable InstantSource clock, Function<Shape, Script> composer) {
		this.keys = keys;
		this.servers = servers;
		this.clock = (clock != null) ? clock : InstantSource.system();
		this.customClock = clock != null;
		this.composer = composer;
	}

	private static <K, V> Cache<K, V> cache() {
		return Caffeine.newBuilder().executor(Runnable::run).maximumSize(MOST).build();
	}

	/**
	 * @throws IllegalArgumentException if a script cannot be composed
	 */
	public void requireComposable(Policy policy) {
		if (!policy.algorithm().getClass().getPackageName().equals(LIBRARY)) {
			for (Operation operation : Operation.values()) {
				call(operation, Scope.ALL, RateLimitRequest.of(policy, Identifier.GLOBAL), 0);
			}
		}
	}

	/** For one slot; not for {@link Operation#CANCEL} and {@link Operation#HISTORY}. */
	public ScriptCall call(Operation operation, Scope scope, RateLimitRequest request, long deadline) {
		return call(operation, scope, request, NONE, null, deadline);
	}

	/**
	 * Returns a call that corrects a reservation.
	 * @param change for each charge how often its cost is added: -1 gives back what was
	 * reserved, 1 counts it although it is denied, 0 leaves the count as it is
	 */
	public ScriptCall cancel(RateLimitRequest request, Scope scope, ToIntFunction<Charge> change, long reservedAt,
			long deadline) {
		return call(Operation.CANCEL, scope, request, new long[] { reservedAt }, change, deadline);
	}

	/**
	 * @param before reads only requests before this time; {@code null} for the newest
	 */
	public ScriptCall history(Policy policy, Identifier identifier, int most, @Nullable Instant before, long deadline) {
		long micros = (before != null) ? Math.min(Meter.micros(before), LARGEST_COST) : LARGEST_COST;
		return call(Operation.HISTORY, Scope.ALL, RateLimitRequest.of(policy, identifier), new long[] { most, micros },
				null, deadline);
	}

	public Call reset(Policy policy, Identifier identifier, long deadline) {
		byte[] tag = this.keys.tag(identifier);
		Stream<byte[]> suffixes = Stream.of(RedisKeys.suffix(policy), RedisKeys.denialsSuffix(policy));
		// Two commands, because a node whose slot is moving cannot use several keys at
		// once.
		List<CommandArguments> commands = suffixes.limit((policy.penalty() != null) ? 2 : 1)
			.map((suffix) -> new CommandArguments(Command.DEL).key(RedisKeys.withSuffix(tag, suffix)))
			.toList();
		return new CommandCall((source) -> commands, 1, this.servers.slot(tag), deadline);
	}

	private ScriptCall call(Operation operation, Scope scope, RateLimitRequest request, long[] first,
			@Nullable ToIntFunction<Charge> change, long deadline) {
		List<Charge> charges = request.charges();
		PolicyCode[] codes = codes(charges);
		List<Identifier> identifiers = (codes.length == 1) ? charges.get(0).identifiers()
				: charges.stream().flatMap((charge) -> charge.identifiers().stream()).distinct().toList();
		Script script = script(operation, scope, charges, codes, identifiers);
		List<byte[]> keys = keys(operation, scope, charges, codes, identifiers);
		byte[] argument = argument(script, request, codes, first, change, operation.readsBlocks(scope));
		return new ScriptCall(script, operation, scope, request, keys, argument, this.servers.slot(keys.get(0)),
				deadline);
	}

	private PolicyCode[] codes(List<Charge> charges) {
		PolicyCode[] codes = new PolicyCode[charges.size()];
		for (int c = 0; c < codes.length; c++) {
			codes[c] = find(this.policies, charges.get(c).policy(), this::code);
		}
		return codes;
	}

	private PolicyCode code(Policy policy) {
		return new PolicyCode(policy, this.shapes);
	}

	private Script script(Operation operation, Scope scope, List<Charge> charges, PolicyCode[] codes,
			List<Identifier> identifiers) {
		// Usually without creating a shape.
		boolean usual = codes.length == 1 && scope == Scope.ALL && !charges.get(0).shadow();
		Object key = usual ? new OnePolicy(codes[0].shape(false), identifiers.size() * OPERATIONS + operation.ordinal())
				: shape(operation, scope, charges, codes, identifiers);
		return find(this.scripts, key, (missing) -> this.composer
			.apply((missing instanceof Shape shape) ? shape : shape(operation, scope, charges, codes, identifiers)));
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

	private static <K, V> V find(Cache<K, V> known, K key, Function<K, V> maker) {
		V value = known.getIfPresent(key);
		return (value != null) ? value : known.get(key, maker);
	}

	/** Returns the Redis keys of counts, then those of blocks, then those of denials. */
	private List<byte[]> keys(Operation operation, Scope scope, List<Charge> charges, PolicyCode[] codes,
			List<Identifier> identifiers) {
		byte[][] tags = new byte[identifiers.size()][];
		for (int i = 0; i < tags.length; i++) {
			tags[i] = this.keys.tag(identifiers.get(i));
		}
		List<byte[]> keys = new ArrayList<>((codes.length + 1) * tags.length);
		for (int c = 0; scope != Scope.BLOCKS && c < codes.length; c++) {
			addKeys(keys, charges.get(c).identifiers(), codes[c].suffix, identifiers, tags);
		}
		if (operation.readsBlocks(scope)) {
			addKeys(keys, identifiers, RedisKeys.BLOCKS, identifiers, tags);
			for (int c = 0; c < codes.length; c++) {
				if (operation.penalizes(scope, charges.get(c))) {
					addKeys(keys, charges.get(c).identifiers(), codes[c].denialsSuffix, identifiers, tags);
				}
			}
		}
		return keys;
	}

	private static void addKeys(List<byte[]> keys, List<Identifier> some, byte[] suffix, List<Identifier> identifiers,
			byte[][] tags) {
		for (int i = 0; i < some.size(); i++) {
			keys.add(RedisKeys.withSuffix(tags[identifiers.indexOf(some.get(i))], suffix));
		}
	}

	/** Returns the numbers in the order of the script, names, and metadata. */
	private byte[] argument(Script script, RateLimitRequest request, PolicyCode[] codes, long[] first,
			@Nullable ToIntFunction<Charge> change, boolean named) {
		byte[] metadata = script.metadata ? request.metadata().getBytes(StandardCharsets.UTF_8) : NO_METADATA;
		int length = Double.BYTES * script.numbers + metadata.length;
		for (int c = 0; named && c < codes.length; c++) {
			length += codes[c].name.length;
		}
		ByteBuffer argument = ByteBuffer.allocate(length);
		if (this.customClock) {
			argument.putDouble(Meter.micros(this.clock.instant()));
		}
		for (long number : first) {
			argument.putDouble(number);
		}
		if (script.call) {
			argument.putDouble(request.call());
		}
		if (script.metadata) {
			argument.putDouble(metadata.length);
		}
		for (int c = 0; c < codes.length; c++) {
			Charge charge = request.charges().get(c);
			argument.putDouble(Math.min(charge.cost(), LARGEST_COST));
			if (change != null) {
				argument.putDouble(change.applyAsInt(charge));
			}
			argument.put(codes[c].numbers(this.clock));
		}
		for (int c = 0; named && c < codes.length; c++) {
			argument.put(codes[c].name);
		}
		return argument.put(metadata).array();
	}

	/** The shape of a request of one enforced policy, whose shape is there only once. */
	private record OnePolicy(Shape.OfPolicy policy, int form) {

		@Override
		public boolean equals(@Nullable Object other) {
			return other instanceof OnePolicy one && one.policy == this.policy && one.form == this.form;
		}

		@Override
		public int hashCode() {
			return 31 * System.identityHashCode(this.policy) + this.form;
		}

	}

}
