package io.github.ratelimit.redis.script;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * What is the same in all calls for a policy: the end of its Redis keys, its numbers as
 * scripts read them, its name, and the scripts for a few of its identifiers alone.
 */
final class PolicyCode {

	/** For up to so many identifiers scripts are kept here. */
	static final int FEW = 4;

	private static final VarHandle DOUBLES = MethodHandles.byteArrayViewVarHandle(double[].class, ByteOrder.BIG_ENDIAN);

	/** Arguments are about the present time: for so long they are not asked for again. */
	private static final long ARGUMENTS_MICROS = 1_000_000;

	private final Policy policy;

	private final Shape.OfPolicy shape;

	private final byte[] suffix;

	private final byte[] name;

	private final boolean hasArguments;

	private final AtomicReferenceArray<@Nullable Script> scripts = new AtomicReferenceArray<>(
			FEW * Operation.values().length * 2);

	private volatile Numbers numbers;

	/**
	 * Numbers of the limits.
	 *
	 * @param madeAt the time that they were made for
	 */
	private record Numbers(byte[] bytes, long madeAt) {

	}

	PolicyCode(Policy policy) {
		this.policy = policy;
		this.shape = Shape.OfPolicy.of(policy);
		this.suffix = RedisKeys.suffix(policy);
		this.name = (policy.name() + '\0').getBytes(StandardCharsets.US_ASCII);
		this.hasArguments = this.shape.arguments().stream().anyMatch((count) -> count > 0);
		this.numbers = new Numbers(numbers(0), 0);
	}

	Shape.OfPolicy shape() {
		return this.shape;
	}

	byte[] suffix() {
		return this.suffix;
	}

	byte[] name() {
		return this.name;
	}

	/**
	 * Returns quotas, largest costs and arguments of all limits.
	 * @param clock tells about the present time
	 */
	byte[] numbers(InstantSource clock) {
		Numbers numbers = this.numbers;
		if (this.hasArguments) {
			long now = Scripts.micros(clock.instant());
			if (Math.abs(now - numbers.madeAt) >= ARGUMENTS_MICROS) {
				numbers = new Numbers(numbers(now), now);
				this.numbers = numbers;
			}
		}
		return numbers.bytes;
	}

	private byte[] numbers(long now) {
		List<Long> numbers = new ArrayList<>();
		Algorithm algorithm = this.policy.algorithm();
		for (Limit limit : this.policy.limits()) {
			numbers.add(limit.quota());
			if (this.shape.ownLargest()) {
				numbers.add(algorithm.largestCost(limit));
			}
			for (long argument : algorithm.arguments(limit, now)) {
				numbers.add(argument);
			}
		}
		byte[] bytes = new byte[Double.BYTES * numbers.size()];
		int at = 0;
		for (long number : numbers) {
			at = put(number, bytes, at);
		}
		return bytes;
	}

	/** Writes a number, as all that scripts are told. */
	static int put(double number, byte[] target, int at) {
		DOUBLES.set(target, at, number);
		return at + Double.BYTES;
	}

	/** Writes what is written already. */
	static int put(byte[] source, byte[] target, int at) {
		System.arraycopy(source, 0, target, at, source.length);
		return at + source.length;
	}

	/** Reads a number of an answer. */
	static double get(byte[] source, int at) {
		return (double) DOUBLES.get(source, at);
	}

	/** The script for some identifiers of this policy alone, if it is known already. */
	@Nullable Script script(Operation operation, boolean handsInTime, int identifiers) {
		return (identifiers <= FEW) ? this.scripts.get(index(operation, handsInTime, identifiers)) : null;
	}

	void remember(Script script, Operation operation, boolean handsInTime, int identifiers) {
		if (identifiers <= FEW) {
			this.scripts.set(index(operation, handsInTime, identifiers), script);
		}
	}

	private static int index(Operation operation, boolean handsInTime, int identifiers) {
		return (operation.ordinal() * FEW + identifiers - 1) * 2 + (handsInTime ? 1 : 0);
	}

}
