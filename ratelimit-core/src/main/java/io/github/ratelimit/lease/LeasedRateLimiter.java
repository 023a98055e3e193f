package io.github.ratelimit.lease;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * Decides busy identifiers in memory, so that they cost the store next to nothing. For
 * policies with a {@linkplain Policy#lease() lease}, this process takes a part of the
 * quota from the store in advance, and uses it up without further calls. Requests of
 * other policies reach the store as before, and so do charges in shadow mode.
 * <p>
 * <b>How much.</b> A part is what this process used lately in the time of the lease, less
 * what it still holds, and at most a quarter of what remains. It must suffice for ten
 * requests; an identifier that uses less has no lease. When three quarters of a part are
 * used, the next one is taken in the background. No request waits for the call of
 * another.
 * <p>
 * <b>How long.</b> A lease ends with the first window that the store counted it in, and
 * after at most twice its time. Twice in its time, at an eviction, and by
 * {@link #close()}, what will not be needed at the present rate is given back; all of it
 * if nothing was used.
 * <p>
 * <b>Never over the quota.</b> The store counts a part before it is used, and a lease
 * ends before the window that counts it. What is given back late is not refunded to a
 * later window. So all processes together never use more than the quota in any window,
 * whatever happens to them, with three exceptions. If a count is reset, or the store has
 * lost it, the parts taken before are not in the new count. A clock of the store that is
 * set forward ends windows before the leases notice. And a process that stops between
 * reading the clock and using a lease uses it late.
 * <p>
 * <b>Denied too early.</b> When the store denies a request, the quota is used up except
 * for less than its cost and what processes hold. Each holds at most what it used in one
 * and a quarter times of the lease before it took its last part. A process that dies
 * holds its part until the window ends. So does a process whose call to give it back
 * fails, or whose store does not return the time of a reservation.
 * <p>
 * Statuses of a decision from a lease have what the store had left when it was taken, and
 * what is left of the lease. Blocks, resets and changed quotas of other processes are
 * noticed when a lease ends. A refund goes back to the lease if that has used so much;
 * other refunds and charges reach the store. Of a request of several policies and
 * identifiers, leases decide what they can, and the store the rest in one call; if it
 * denies the request or fails, what was taken is put back.
 * <p>
 * Safe for use by several threads. Uses one thread, once there is a lease.
 */
public final class LeasedRateLimiter extends DelegatingRateLimiter implements AutoCloseable {

	private static final int MOST = 10_000;

	private static final Duration PATIENCE = Duration.ofSeconds(1);

	private final RateLimiter store;

	private final BackgroundTimer timer;

	private final LongSupplier nanos;

	private final Cache<Key, LeasedQuota> quotas;

	/**
	 * Creates a rate limiter without leases, which are taken as requests come.
	 * @param store the store, or a rate limiter that asks it; only what it answers with
	 * the source {@link Source#STORE} is used
	 */
	public LeasedRateLimiter(RateLimiter store) {
		this(store, new BackgroundTimer("ratelimit-leases", PATIENCE), System::nanoTime, MOST);
	}

	LeasedRateLimiter(RateLimiter store, BackgroundTimer timer, LongSupplier nanos, long maxSize) {
		super(store);
		this.store = store;
		this.timer = timer;
		this.nanos = nanos;
		this.quotas = Caffeine.newBuilder()
			.executor(Runnable::run)
			.maximumSize(maxSize)
			.evictionListener((@Nullable Key key, @Nullable LeasedQuota quota, RemovalCause cause) -> end(quota))
			.build();
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		if (!isLeased(request)) {
			return super.tryAcquire(request);
		}
		long now = this.nanos.getAsLong();
		Decision single = takeSingle(request, now);
		if (single != null) {
			return single;
		}
		LeasedRequest leased = new LeasedRequest(request, this::quota, LeasedQuota::take, now);
		if (leased.isComplete()) {
			return leased.decision();
		}
		Decision rest = decideRest(leased);
		leased.decided(rest);
		if (rest.blockedFor() != null) {
			request.charges().forEach((charge) -> endLeases(charge.policy().name(), charge.identifiers()));
		}
		return leased.decision(rest);
	}

	/** Not all of them may be blocked, but the store does not say which are. */
	private void endLeases(String policy, List<Identifier> identifiers) {
		for (Identifier identifier : identifiers) {
			end(this.quotas.asMap().remove(new Key(policy, identifier)));
		}
	}

	/** Ends a lease now, and gives it back in the background. */
	private void end(@Nullable LeasedQuota quota) {
		if (quota != null) {
			this.timer.schedule(quota.end(), 0);
		}
	}

	/** Decides the usual request, of one policy and identifier, with little garbage. */
	private @Nullable Decision takeSingle(RateLimitRequest request, long now) {
		Charge charge = request.charges().get(0);
		if (request.charges().size() > 1 || charge.identifiers().size() > 1) {
			return null;
		}
		Identifier identifier = charge.identifiers().get(0);
		LeasedQuota quota = known(charge.policy(), identifier);
		Lease lease = (quota != null) ? quota.take(charge.cost(), now) : null;
		return (lease != null)
				? new Decision(true, lease.statuses(charge.policy(), identifier, now), null, Source.LEASE) : null;
	}

	private Decision decideRest(LeasedRequest leased) {
		boolean allowed = false;
		try {
			Decision rest = super.tryAcquire(leased.rest());
			allowed = rest.allowed();
			return rest;
		}
		finally {
			if (!allowed) {
				leased.putBack();
			}
		}
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		if (!isLeased(request)) {
			return super.peek(request);
		}
		LeasedRequest leased = new LeasedRequest(request, this::known, LeasedQuota::look, this.nanos.getAsLong());
		return leased.isComplete() ? leased.decision() : leased.decision(super.peek(leased.rest()));
	}

	@Override
	public void refund(RateLimitRequest request) {
		if (!isLeased(request)) {
			super.refund(request);
			return;
		}
		LeasedRequest leased = new LeasedRequest(request, this::known, LeasedQuota::refund, this.nanos.getAsLong());
		if (!leased.isComplete()) {
			super.refund(leased.rest());
		}
	}

	/**
	 * Removes the counts of an identifier in a policy, with the lease of this process.
	 * What others hold of the old count they may use in addition to the new one.
	 */
	@Override
	public void reset(Policy policy, Identifier identifier) {
		try {
			super.reset(policy, identifier);
		}
		finally {
			LeasedQuota quota = this.quotas.asMap().remove(new Key(policy.name(), identifier));
			if (quota != null) {
				quota.forget();
			}
		}
	}

	/** Ends the leases of an identifier when it is blocked or unblocked. */
	public BlockList watchBlocks(BlockList blocks) {
		return blocks.onChange(this::endLeases);
	}

	/** Gives back all leases, and ends the thread. Later requests take leases again. */
	public void pause() {
		this.timer.pause();
		giveBack();
		this.quotas.invalidateAll();
	}

	/** Gives back all leases, and takes no more. */
	@Override
	public void close() {
		this.timer.stop();
		giveBack();
	}

	private void giveBack() {
		try {
			this.quotas.asMap().values().forEach((quota) -> quota.end().run());
		}
		catch (StoreException ex) {
			// The rest stays counted until its windows end.
		}
	}

	private static boolean isLeased(RateLimitRequest request) {
		List<Charge> charges = request.charges();
		for (int i = 0; i < charges.size(); i++) {
			if (LeasedRequest.isLeased(charges.get(i))) {
				return true;
			}
		}
		return false;
	}

	/** Returns what is known of a count; {@code null} if nothing, or of another quota. */
	private @Nullable LeasedQuota known(Policy policy, Identifier identifier) {
		LeasedQuota known = this.quotas.getIfPresent(new Key(policy.name(), identifier));
		return (known != null && known.isOf(policy)) ? known : null;
	}

	/**
	 * {@code null} while there is one of the same name and another quota, such as that of
	 * a plan.
	 */
	private @Nullable LeasedQuota quota(Policy policy, Identifier identifier) {
		Key key = new Key(policy.name(), identifier);
		LeasedQuota quota = this.quotas.getIfPresent(key);
		if (quota == null || (!quota.isOf(policy) && quota.isEmpty())) {
			quota = this.quotas.asMap().compute(key, (same, before) -> {
				if (before != null && (before.isOf(policy) || !before.isEmpty())) {
					return before;
				}
				end(before);
				Duration lease = Objects.requireNonNull(policy.lease());
				return new LeasedQuota(policy, identifier, TimeUnit.NANOSECONDS.convert(lease), this.store, this.timer,
						this.nanos);
			});
		}
		return (quota != null && quota.isOf(policy)) ? quota : null;
	}

	private void endLeases(Identifier identifier, @Nullable String policy) {
		if (policy != null) {
			endLeases(policy, List.of(identifier));
			return;
		}
		this.quotas.asMap().values().removeIf((quota) -> {
			boolean ends = quota.isOf(identifier, null);
			if (ends) {
				end(quota);
			}
			return ends;
		});
	}

	/** Policies of the same name share a count, whatever their quotas. */
	record Key(String policy, Identifier identifier) {
	}

}
