package io.github.ratelimit.redis.script;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;

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
 * Makes calls of scripts for requests. Composes each script once, and keeps a bounded
 * number of them. Safe for use by several threads.
 */
public final class Scripts {

	/** So many scripts and policies are kept; if there are more, all are made again. */
	private static final int MOST = 1000;

	/** More than every cost that could be allowed. */
	private static final long LARGEST_COST = Limit.MAX_QUOTA + 1;

	/** Where algorithms are whose scripts are known to be sound. */
	private static final String LIBRARY = Algorithm.class.getPackageName() + ".algorithm";

	/** Together, their scripts have all sections of a fragment but its history. */
	private static final List<Operation> COUNTING = List.of(Operation.REFUND, Operation.CHARGE, Operation.CANCEL,
			Operation.ACQUIRE);

	private final RedisKeys keys;

	private final Servers servers;

	private final InstantSource clock;

	private final boolean handsInTime;

	private final Map<Policy, PolicyCode> policies = new ConcurrentHashMap<>();

	private final Map<Shape, Script> scripts = new ConcurrentHashMap<>();

	private Scripts(RedisKeys keys, Servers servers, InstantSource clock, boolean handsInTime) {
		this.keys = keys;
		this.servers = servers;
		this.clock = clock;
		this.handsInTime = handsInTime;
	}

	/** Creates calls that are decided by the clock of the server. */
	public Scripts(RedisKeys keys, Servers servers) {
		this(keys, servers, InstantSource.system(), false);
	}

	/** Returns the same for calls that are decided by a clock of this process. */
	public Scripts withClock(InstantSource clock) {
		return new Scripts(this.keys, this.servers, clock, true);
	}

	/**
	 * Refuses a policy whose algorithm is not the library's and has no script, or one
	 * that is not of the form.
	 * @throws IllegalArgumentException if its scripts cannot be composed
	 */
	public void requireComposable(Policy policy) {
		boolean known = policy.algorithm().getClass().getPackageName().equals(LIBRARY);
		if (!known && code(policy).script(Operation.ACQUIRE, 1) == null) {
			Charge charge = Charge.of(policy, Identifier.GLOBAL);
			COUNTING.forEach((operation) -> script(operation, charge));
		}
	}

	/**
	 * Returns a call for a request whose Redis keys are on one slot, but none that
	 * cancels or reads.
	 * @param scope what of the request there are Redis keys of
	 */
	public ScriptCall call(Operation operation, Scope scope, RateLimitRequest request, long deadline) {
		return call(operation, scope, request, new long[0], null, deadline);
	}

	/**
	 * Returns a call that gives back what was held.
	 * @param stays of which policies the cost remains counted
	 * @param heldAt {@link Answer#heldAt()} of what was held
	 */
	public ScriptCall cancel(RateLimitRequest request, Scope scope, Predicate<Charge> stays, long heldAt,
			long deadline) {
		return call(Operation.CANCEL, scope, request, new long[] { heldAt }, stays, deadline);
	}

	/**
	 * Returns a call that reads what a policy keeps, to be read by
	 * {@link ScriptCall#entries()} or {@link ScriptCall#series()}.
	 * @param most how many requests are read at most
	 * @param before requests that were made before; {@code null} for the newest
	 */
	public ScriptCall history(Policy policy, Identifier identifier, int most, @Nullable Instant before, long deadline) {
		long micros = (before != null) ? Math.min(Meter.micros(before), LARGEST_COST) : LARGEST_COST;
		return call(Operation.HISTORY, Scope.ALL, RateLimitRequest.of(policy, identifier), new long[] { most, micros },
				null, deadline);
	}

	/** Returns a call that forgets what an identifier has used of a policy. */
	public Call reset(Policy policy, Identifier identifier, long deadline) {
		byte[] key = this.keys.key(identifier, code(policy).suffix);
		return new CommandCall((source) -> List.of(new CommandArguments(Command.DEL).key(key)), 1,
				this.servers.slot(key), deadline);
	}

	private ScriptCall call(Operation operation, Scope scope, RateLimitRequest request, long[] first,
			@Nullable Predicate<Charge> stays, long deadline) {
		List<Charge> charges = request.charges();
		List<Identifier> identifiers = identifiers(charges);
		boolean isAlone = charges.size() == 1 && scope == Scope.ALL && !charges.get(0).shadow();
		Script script = isAlone ? script(operation, charges.get(0))
				: script(shape(operation, scope, charges, identifiers));
		boolean hasBlocks = operation.decides() && scope != Scope.COUNTS;
		byte[][] keys = keys(charges, identifiers, scope != Scope.BLOCKS, hasBlocks);
		byte[] metadata = script.metadata ? request.metadata().getBytes(StandardCharsets.UTF_8) : null;
		byte[] argument = argument(charges, first, stays, hasBlocks, metadata);
		return new ScriptCall(script, operation, scope, request, keys, argument, this.servers.slot(keys[0]), deadline);
	}

	private Script script(Operation operation, Charge charge) {
		PolicyCode code = code(charge.policy());
		int identifiers = charge.identifiers().size();
		Script script = code.script(operation, identifiers);
		if (script == null) {
			script = script(shape(operation, Scope.ALL, List.of(charge), charge.identifiers()));
			code.remember(script, operation, identifiers);
		}
		return script;
	}

	private Shape shape(Operation operation, Scope scope, List<Charge> charges, List<Identifier> identifiers) {
		List<Shape.OfPolicy> policies = new ArrayList<>();
		List<List<Integer>> blocks = new ArrayList<>();
		for (Charge charge : charges) {
			policies.add(code(charge.policy()).shape(charge.shadow() && operation.decides()));
			blocks.add(charge.identifiers().stream().map(identifiers::indexOf).toList());
		}
		return new Shape(operation, scope, this.handsInTime, policies, blocks);
	}

	private Script script(Shape shape) {
		return find(this.scripts, shape, Composer::compose);
	}

	private PolicyCode code(Policy policy) {
		return find(this.policies, policy, PolicyCode::new);
	}

	private static <K, V> V find(Map<K, V> known, K key, Function<K, V> maker) {
		V value = known.get(key);
		if (value == null) {
			if (known.size() >= MOST) {
				known.clear();
			}
			value = known.computeIfAbsent(key, maker);
		}
		return value;
	}

	/** All identifiers, none twice. */
	private static List<Identifier> identifiers(List<Charge> charges) {
		return (charges.size() == 1) ? charges.get(0).identifiers()
				: charges.stream().flatMap((charge) -> charge.identifiers().stream()).distinct().toList();
	}

	/** What is counted, then the blocks. */
	private byte[][] keys(List<Charge> charges, List<Identifier> identifiers, boolean hasStates, boolean hasBlocks) {
		int states = 0;
		for (int c = 0; hasStates && c < charges.size(); c++) {
			states += charges.get(c).identifiers().size();
		}
		byte[][] keys = new byte[states + identifiers.size()][];
		for (int i = 0; i < identifiers.size(); i++) {
			keys[states + i] = this.keys.blocks(identifiers.get(i));
		}
		int at = 0;
		for (int c = 0; hasStates && c < charges.size(); c++) {
			List<Identifier> own = charges.get(c).identifiers();
			byte[] suffix = code(charges.get(c).policy()).suffix;
			for (int i = 0; i < own.size(); i++) {
				int blocks = (own == identifiers) ? i : identifiers.indexOf(own.get(i));
				keys[at++] = RedisKeys.withSuffix(keys[states + blocks], suffix);
			}
		}
		return hasBlocks ? keys : Arrays.copyOf(keys, states);
	}

	/** The numbers that {@link Words} names, in its order, names, and metadata. */
	private byte[] argument(List<Charge> charges, long[] first, @Nullable Predicate<Charge> stays, boolean named,
			byte @Nullable [] metadata) {
		int length = Double.BYTES * (first.length + charges.size() * ((stays != null) ? 2 : 1));
		length += (this.handsInTime ? Double.BYTES : 0) + ((metadata != null) ? Double.BYTES + metadata.length : 0);
		for (int c = 0; c < charges.size(); c++) {
			PolicyCode code = code(charges.get(c).policy());
			length += code.numbers(this.clock).length + (named ? code.name.length : 0);
		}
		ByteBuffer argument = ByteBuffer.allocate(length);
		if (this.handsInTime) {
			argument.putDouble(Meter.micros(this.clock.instant()));
		}
		for (long number : first) {
			argument.putDouble(number);
		}
		if (metadata != null) {
			argument.putDouble(metadata.length);
		}
		for (int c = 0; c < charges.size(); c++) {
			Charge charge = charges.get(c);
			argument.putDouble(Math.min(charge.cost(), LARGEST_COST));
			if (stays != null) {
				argument.putDouble(stays.test(charge) ? 1 : 0);
			}
			argument.put(code(charge.policy()).numbers(this.clock));
		}
		for (int c = 0; named && c < charges.size(); c++) {
			argument.put(code(charges.get(c).policy()).name);
		}
		return ((metadata != null) ? argument.put(metadata) : argument).array();
	}

}
