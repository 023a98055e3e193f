package io.github.ratelimit.spring.decide;

import java.util.List;
import java.util.function.BooleanSupplier;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.PolicyLimiter.Acquisition;
import org.jspecify.annotations.Nullable;

/**
 * What was decided over a request, and what it has used. Safe for use by several threads.
 */
public class Decided implements Acquisition {

	/** What no policy limits. */
	public static final Decided UNLIMITED = new Decided(new Decision(true, List.of()));

	private final Decision decision;

	private final List<PolicyCharge> asked;

	/** Settles what was used; {@code null} if nothing was. */
	private final @Nullable Counted counted;

	private List<PolicyCharge> used;

	private List<PolicyCharge> calls;

	/** Creates a decision that uses nothing. */
	public Decided(Decision decision) {
		this(decision, List.of(), List.of(), List.of(), null);
	}

	Decided(Decision decision, List<PolicyCharge> asked, List<PolicyCharge> used, List<PolicyCharge> calls,
			@Nullable Counted counted) {
		this.decision = decision;
		this.asked = asked;
		this.used = used;
		this.calls = calls;
		this.counted = counted;
	}

	@Override
	public Decision decision() {
		return this.decision;
	}

	/**
	 * Returns the policies that may deny the request, each for its plan, in the order in
	 * which they are checked. A denial from memory has statuses of some of them only.
	 */
	public List<Policy> checked() {
		return this.asked.stream()
			.filter((charge) -> !charge.isShadow())
			.map((charge) -> charge.charge().policy())
			.toList();
	}

	/** Returns the charges of limits that were used, each where it was counted. */
	public synchronized List<PolicyCharge> used() {
		return this.used;
	}

	/**
	 * Returns whether the request counts among concurrent ones until its {@link #end}.
	 */
	public synchronized boolean isRunning() {
		return !this.calls.isEmpty();
	}

	/**
	 * Tells what shows that the request runs. It is renewed for as long as that is so,
	 * but without any sign only for a stated time.
	 * @param sign returns whether it runs, or has shown that since it was last asked
	 */
	public void watch(BooleanSupplier sign) {
		if (this.counted != null) {
			this.counted.watch(calls(), sign);
		}
	}

	synchronized List<PolicyCharge> calls() {
		return this.calls;
	}

	@Override
	public void end() {
		List<PolicyCharge> ended;
		synchronized (this) {
			ended = this.calls;
			this.calls = List.of();
		}
		if (this.counted != null) {
			this.counted.end(ended);
		}
	}

	@Override
	public void refund() {
		end();
		List<PolicyCharge> refunded;
		synchronized (this) {
			refunded = this.used;
			this.used = List.of();
		}
		if (this.counted != null) {
			this.counted.refund(refunded);
		}
	}

}
