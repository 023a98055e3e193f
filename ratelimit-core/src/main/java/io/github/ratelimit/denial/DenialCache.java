package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import org.jspecify.annotations.Nullable;

/**
 * Remembers who was denied, so that those who do not wait cost the store nothing: until
 * the earliest time at which a request could be allowed, it is denied from memory.
 * <p>
 * What is remembered is a policy with its quotas, an identifier, and a cost. A request is
 * denied if one of its own was denied before, whatever else it asks for. Blocks are
 * remembered by the whole request. Requests of policies that count denied requests always
 * reach the store.
 * <p>
 * Decisions from memory tell of the limits that are known to deny the request, and not of
 * others. Their {@code remaining} is what it was; the times are those that are left.
 * <p>
 * <b>Nobody is denied whom the store would allow</b>, as long as all that gives quota
 * back passes through here: refunds, resets and blocks, of which each drops what it
 * concerns, also for requests that are being decided meanwhile. What other processes give
 * back is noticed when the denial is older than the maximum age; so is a server that has
 * lost its counts, or whose clock was set forward. The same holds for a store that denies
 * requests while others are being decided, as one without scripts does, and for a token
 * bucket with a burst that requests of several quotas share.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class DenialCache {

	/**
	 * Longest maximum age.
	 */
	public static final Duration LONGEST_AGE = Limit.MAX_WINDOW;

	/** Different costs of one policy and identifier. */
	private static final int MAX_COSTS = 8;

	private static final int STRIPES = 1024;

	private final LongSupplier nanos;

	private final Cache<Account, List<Denial>> denials;

	private final Cache<List<Charge>, Blocked> blocked;

	/** Change with everything that may allow what was denied to some accounts. */
	private final AtomicLongArray generations = new AtomicLongArray(STRIPES);

	/** Changes with everything that may allow what was denied to anybody. */
	private final AtomicLong generationOfAll = new AtomicLong();

	/**
	 * Creates an empty cache.
	 * @param maxAge for how long a denial is remembered at most, from 1 ms to
	 * {@link #LONGEST_AGE}: the time after which what other processes give back is
	 * noticed
	 * @param maxSize how many policies and identifiers are remembered at most, at least 1
	 * @throws IllegalArgumentException if one of them is out of range
	 */
	public DenialCache(Duration maxAge, long maxSize) {
		this(maxAge, maxSize, System::nanoTime);
	}

	/**
	 * Creates an empty cache.
	 * @param nanos the time, in nanoseconds
	 */
	DenialCache(Duration maxAge, long maxSize, LongSupplier nanos) {
		if (maxAge.compareTo(Duration.ofMillis(1)) < 0 || maxAge.compareTo(LONGEST_AGE) > 0) {
			throw new IllegalArgumentException(
					"Invalid maximum age (%s): must be from 1ms to %dd.".formatted(maxAge, LONGEST_AGE.toDays()));
		}
		if (maxSize < 1) {
			throw new IllegalArgumentException("Invalid maximum size (%d): must be at least 1.".formatted(maxSize));
		}
		this.nanos = nanos;
		this.denials = newCache(maxAge, maxSize, nanos);
		this.blocked = newCache(maxAge, maxSize, nanos);
	}

	private static <K, V> Cache<K, V> newCache(Duration maxAge, long maxSize, LongSupplier nanos) {
		return Caffeine.newBuilder()
			.expireAfterWrite(maxAge)
			.maximumSize(maxSize)
			.ticker(nanos::getAsLong)
			.executor(Runnable::run)
			.build();
	}

	/**
	 * Answers those who were denied without asking the store.
	 * @param store the store, or what decides while it fails; only denials with the
	 * source {@link Source#STORE} are remembered
	 * @return a rate limiter that asks the store about everybody else
	 */
	public RateLimiter cache(RateLimiter store) {
		return new CachedRateLimiter(store);
	}

	/**
	 * Drops all denials when somebody is blocked or unblocked.
	 * @param blocks the blocks of the store
	 * @return the same blocks
	 */
	public BlockList watch(BlockList blocks) {
		return new WatchedBlockList(blocks, this::forgetAll);
	}

	private void forgetAll() {
		this.generationOfAll.incrementAndGet();
		this.denials.invalidateAll();
		this.blocked.invalidateAll();
	}

	private void forget(Account account) {
		this.generations.incrementAndGet(account.stripe());
		this.denials.invalidate(account);
	}

	private static List<Account> accounts(RateLimitRequest request) {
		List<Account> accounts = new ArrayList<>();
		for (Charge charge : request.charges()) {
			for (Identifier identifier : charge.identifiers()) {
				accounts.add(new Account(charge.policy().name(), identifier));
			}
		}
		return accounts;
	}

	/** A number that only grows, with everything that may concern the account. */
	private long generation(Account account) {
		return this.generationOfAll.get() + this.generations.get(account.stripe());
	}

	private @Nullable Decision find(RateLimitRequest request, long now) {
		Decision blocked = this.blocked.asMap().isEmpty() ? null : findBlocked(request, now);
		if (blocked != null) {
			return blocked;
		}
		List<LimitStatus> violated = new ArrayList<>();
		if (!this.denials.asMap().isEmpty()) {
			for (Charge charge : request.charges()) {
				for (Identifier identifier : charge.identifiers()) {
					List<Denial> known = this.denials.getIfPresent(new Account(charge.policy().name(), identifier));
					if (known != null) {
						known.stream()
							.filter((denial) -> denial.isAbout(charge.policy(), charge.cost()))
							.forEach((denial) -> denial.tell(now, violated::add));
					}
				}
			}
		}
		return violated.isEmpty() ? null : new Decision(false, violated, null, Source.DENIAL_CACHE);
	}

	private @Nullable Decision findBlocked(RateLimitRequest request, long now) {
		Blocked block = this.blocked.getIfPresent(request.charges());
		Duration left = (block != null) ? Denial.left(block.time(), block.since(), now) : null;
		if (block == null || left == null || !Arrays.equals(generations(accounts(request)), block.generations())) {
			return null;
		}
		List<LimitStatus> violated = new ArrayList<>();
		Denial.tell(block.violated(), block.since(), now, violated::add);
		return new Decision(false, violated, left, Source.DENIAL_CACHE);
	}

	private long[] generations(List<Account> accounts) {
		return accounts.stream().mapToLong(this::generation).toArray();
	}

	/** What a request was about, before the store was asked. */
	private final class Question {

		private final RateLimitRequest request;

		private final long since;

		private final List<Account> accounts;

		private final long[] generations;

		Question(RateLimitRequest request, long since) {
			this.request = request;
			this.since = since;
			this.accounts = accounts(request);
			this.generations = generations(this.accounts);
		}

		void denied(Decision decision) {
			Map<Account, List<LimitStatus>> violated = new HashMap<>();
			for (LimitStatus status : decision.violated()) {
				violated
					.computeIfAbsent(new Account(status.policy().name(), status.identifier()),
							(key) -> new ArrayList<>())
					.add(status);
			}
			int at = 0;
			for (Charge charge : this.request.charges()) {
				for (int i = 0; i < charge.identifiers().size(); i++) {
					List<LimitStatus> limits = violated.get(this.accounts.get(at));
					if (limits != null) {
						remember(at, new Denial(charge.policy(), charge.cost(), List.copyOf(limits), this.since));
					}
					at++;
				}
			}
			Duration time = decision.blockedFor();
			if (time != null) {
				// As old as it may be: generations are compared when it is found.
				DenialCache.this.blocked.put(this.request.charges(),
						new Blocked(time, decision.violated(), this.since, this.generations));
			}
		}

		/** Unless something was given back meanwhile: forgetting waits for this. */
		private void remember(int at, Denial denial) {
			DenialCache.this.denials.asMap()
				.compute(this.accounts.get(at), (account, known) -> (generation(account) == this.generations[at])
						? with(known, denial) : known);
		}

	}

	/** The newest denials, of which the others are of other costs. */
	private static List<Denial> with(@Nullable List<Denial> known, Denial denial) {
		List<Denial> denials = new ArrayList<>();
		denials.add(denial);
		if (known != null) {
			known.stream()
				.filter((other) -> !other.isAbout(denial.policy(), denial.cost()))
				.limit(MAX_COSTS - 1)
				.forEach(denials::add);
		}
		return List.copyOf(denials);
	}

	/** Whose counts are meant: policies of one name share them, whatever their quotas. */
	private record Account(String policy, Identifier identifier) {

		int stripe() {
			int hash = hashCode();
			return (hash ^ hash >>> 16) & STRIPES - 1;
		}

	}

	/** A request that was denied because somebody is blocked, and as it stood then. */
	private record Blocked(Duration time, List<LimitStatus> violated, long since, long[] generations) {

	}

	private final class CachedRateLimiter implements RateLimiter {

		private final RateLimiter store;

		CachedRateLimiter(RateLimiter store) {
			this.store = store;
		}

		@Override
		public Decision tryAcquire(RateLimitRequest request) {
			if (request.charges().stream().anyMatch((charge) -> charge.policy().countDenied())) {
				return allowing(request, this.store.tryAcquire(request));
			}
			long now = DenialCache.this.nanos.getAsLong();
			Decision known = find(request, now);
			if (known != null) {
				return known;
			}
			Question question = new Question(request, now);
			Decision decision = this.store.tryAcquire(request);
			if (!decision.allowed() && decision.source() == Source.STORE) {
				question.denied(decision);
			}
			return allowing(request, decision);
		}

		/** Who has used more has to wait longer for other costs. */
		private Decision allowing(RateLimitRequest request, Decision decision) {
			if (decision.allowed() && !DenialCache.this.denials.asMap().isEmpty()) {
				DenialCache.this.denials.invalidateAll(accounts(request));
			}
			return decision;
		}

		@Override
		public Decision peek(RateLimitRequest request) {
			return this.store.peek(request);
		}

		@Override
		public void refund(RateLimitRequest request) {
			try {
				this.store.refund(request);
			}
			finally {
				accounts(request).forEach(DenialCache.this::forget);
			}
		}

		@Override
		public void charge(RateLimitRequest request) {
			try {
				this.store.charge(request);
			}
			finally {
				accounts(request).forEach(DenialCache.this::forget);
			}
		}

		@Override
		public void reset(Policy policy, Identifier identifier) {
			try {
				this.store.reset(policy, identifier);
			}
			finally {
				forget(new Account(policy.name(), identifier));
			}
		}

		@Override
		public void requireSupported(Policy policy) {
			this.store.requireSupported(policy);
		}

	}

}
