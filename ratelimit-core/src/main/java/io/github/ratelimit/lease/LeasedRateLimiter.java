package io.github.ratelimit.lease;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.github.ratelimit.Block;
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
 * used, the next one is taken in the background. Requests meanwhile use the rest, or ask
 * the store. No request waits for the call of another.
 * <p>
 * <b>How long.</b> A lease ends with the first window that the store counted it in, and
 * after at most twice its time. Twice in its time, what will not be needed at the present
 * rate is given back; all of it if nothing was used. So it is at an eviction, if there
 * are too many identifiers, and by {@link #close()}.
 * <p>
 * <b>Never over the quota.</b> The store counts a part before it is used, and a lease
 * ends before the window that counts it. A part is never used unless the store has
 * answered. What is given back late is not refunded to a later window. So all processes
 * together never use more than the quota in any window, whatever happens to them. There
 * are three exceptions, none of which concerns the rate of requests. If a count is reset,
 * or the store has lost it, the parts taken before are not in the new count. A clock of
 * the store that is set forward ends windows before the leases notice. And a process that
 * stops between reading the clock and using a lease uses it late.
 * <p>
 * <b>Denied too early.</b> When the store denies a request, the quota is used up except
 * for less than its cost and what processes hold. Each holds at most what it used in one
 * and a quarter times of the lease before it took its last part. A process that dies
 * holds its part until the window ends. So does a process whose call to give it back
 * fails, or whose store does not return the time of a reservation.
 * <p>
 * Statuses of a decision from a lease have what the store had left when it was taken, and
 * what is left of the lease; what others have used since is unknown. Blocks, resets and
 * changed quotas of other processes are noticed when a lease ends. A refund goes back to
 * the lease if that has used so much; other refunds and charges reach the store.
 * <p>
 * Requests of several policies and identifiers are decided all or nothing: what leases
 * have is taken from them, the store is asked about the rest in one call, and what was
 * taken is put back if it denies the request or fails.
 * <p>
 * Safe for use by several threads. Uses one thread, once there is a lease.
 *
 * @since 0.1
 */
public final class LeasedRateLimiter extends DelegatingRateLimiter implements AutoCloseable {

	/** Number of identifiers whose use is known; those used least are forgotten. */
	private static final int MOST = 10_000;

	/** Where leases are taken from. */
	private final RateLimiter store;

	private final Timer timer;

	private final LongSupplier nanos;

	private final Cache<Key, Holding> holdings;

	/**
	 * Creates a rate limiter without leases, which are taken as requests come.
	 * @param store the store, or a rate limiter that asks it; only what it answers with
	 * the source {@link Source#STORE} is used
	 */
	public LeasedRateLimiter(RateLimiter store) {
		this(store, Timer.ofThread(), System::nanoTime, MOST);
	}

	LeasedRateLimiter(RateLimiter store, Timer timer, LongSupplier nanos, long maxSize) {
		super(store);
		this.store = store;
		this.timer = timer;
		this.nanos = nanos;
		this.holdings = Caffeine.newBuilder()
			.executor(Runnable::run)
			.maximumSize(maxSize)
			.evictionListener((@Nullable Key key, @Nullable Holding holding, RemovalCause cause) -> end(holding))
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
		LeasedRequest leased = new LeasedRequest(request, this::holding, now).take();
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
			end(this.holdings.asMap().remove(new Key(policy, identifier)));
		}
	}

	/** Ends a lease now, and gives it back in the background. */
	private void end(@Nullable Holding holding) {
		if (holding != null) {
			this.timer.schedule(holding.end(), 0);
		}
	}

	/**
	 * Decides the usual request, of one policy and identifier, with little garbage;
	 * {@code null} if it is another one, or has no lease with enough.
	 */
	private @Nullable Decision takeSingle(RateLimitRequest request, long now) {
		Charge charge = request.charges().get(0);
		if (request.charges().size() > 1 || charge.identifiers().size() > 1) {
			return null;
		}
		Identifier identifier = charge.identifiers().get(0);
		Holding holding = known(charge.policy(), identifier);
		Lease lease = (holding != null) ? holding.take(charge.cost(), now) : null;
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
		LeasedRequest leased = new LeasedRequest(request, this::known, this.nanos.getAsLong()).look();
		return leased.isComplete() ? leased.decision() : leased.decision(super.peek(leased.rest()));
	}

	@Override
	public void refund(RateLimitRequest request) {
		if (!isLeased(request)) {
			super.refund(request);
			return;
		}
		LeasedRequest leased = new LeasedRequest(request, this::known, this.nanos.getAsLong()).refund();
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
			forget(policy, identifier);
		}
	}

	/**
	 * Drops the lease of an identifier without giving it back, because its count was
	 * reset in another way.
	 * @param policy the policy
	 * @param identifier the identifier
	 */
	public void forget(Policy policy, Identifier identifier) {
		Holding holding = this.holdings.asMap().remove(new Key(policy.name(), identifier));
		if (holding != null) {
			holding.forget();
		}
	}

	/**
	 * Ends the leases of an identifier when it is blocked.
	 * @param blocks the blocks of the store
	 * @return the same blocks
	 */
	public BlockList watchBlocks(BlockList blocks) {
		return new WatchedBlockList(blocks);
	}

	/**
	 * Gives back what is left of all leases, and takes no more: all requests reach the
	 * store. Stops at the first failure of the store.
	 */
	@Override
	public void close() {
		this.timer.stop();
		try {
			this.holdings.asMap().values().forEach((holding) -> holding.end().run());
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
	private @Nullable Holding known(Policy policy, Identifier identifier) {
		Holding known = this.holdings.getIfPresent(new Key(policy.name(), identifier));
		return (known != null && known.isOf(policy)) ? known : null;
	}

	/**
	 * Returns the holding of a count; {@code null} while there is one of a policy with
	 * the same name and another quota, such as that of a plan.
	 */
	private @Nullable Holding holding(Policy policy, Identifier identifier) {
		Key key = new Key(policy.name(), identifier);
		Holding holding = this.holdings.getIfPresent(key);
		if (holding == null || (!holding.isOf(policy) && holding.isEmpty())) {
			holding = this.holdings.asMap().compute(key, (same, before) -> {
				if (before != null && (before.isOf(policy) || !before.isEmpty())) {
					return before;
				}
				end(before);
				Duration lease = Objects.requireNonNull(policy.lease());
				return new Holding(policy, identifier, TimeUnit.NANOSECONDS.convert(lease), this.store, this.timer,
						this.nanos);
			});
		}
		return (holding != null && holding.isOf(policy)) ? holding : null;
	}

	/** Ends leases after each block, even if its outcome is unknown. */
	private final class WatchedBlockList implements BlockList {

		private final BlockList blocks;

		WatchedBlockList(BlockList blocks) {
			this.blocks = blocks;
		}

		@Override
		public Block block(Identifier identifier, @Nullable String policy, Duration time, String reason) {
			try {
				return this.blocks.block(identifier, policy, time, reason);
			}
			finally {
				endLeases(identifier, policy);
			}
		}

		@Override
		public boolean unblock(Identifier identifier, @Nullable String policy) {
			return this.blocks.unblock(identifier, policy);
		}

		@Override
		public List<Block> blocks() {
			return this.blocks.blocks();
		}

		private void endLeases(Identifier identifier, @Nullable String policy) {
			LeasedRateLimiter.this.holdings.asMap().values().removeIf((holding) -> {
				boolean ends = holding.isOf(identifier, policy);
				if (ends) {
					end(holding);
				}
				return ends;
			});
		}

	}

}
