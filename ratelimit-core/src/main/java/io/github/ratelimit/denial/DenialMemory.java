package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.LimitStatus;
import org.jspecify.annotations.Nullable;

/**
 * What is known of accounts whose requests were denied.
 * <p>
 * Every use and refund drops what is known of an account. A store decides at an unknown
 * moment between question and answer, so a denial is remembered only if none of these was
 * answered in between. Stamps tell, which grow with each of them; accounts share stamps,
 * so that at worst a denial is not remembered.
 * <p>
 * Safe for use by several threads.
 */
final class DenialMemory {

	private static final int STAMPS = 1024;

	private final LongSupplier nanos;

	private final long maxAge;

	private final int maxQuestions;

	private final Cache<Account, Standings> accounts;

	private final Cache<List<Account>, Blocked> blocked;

	private final AtomicLongArray stamps = new AtomicLongArray(STAMPS);

	/** Grows with everything that may concern all accounts. */
	private final AtomicLong epoch = new AtomicLong();

	DenialMemory(Duration maxAge, long maxSize, int maxQuestions, LongSupplier nanos) {
		this.nanos = nanos;
		this.maxAge = maxAge.toNanos();
		this.maxQuestions = maxQuestions;
		this.accounts = newBuilder(maxAge, nanos).maximumWeight(maxSize)
			.weigher((Account account, Standings known) -> known.size())
			.build();
		this.blocked = newBuilder(maxAge, nanos).maximumSize(maxSize).build();
	}

	private static Caffeine<Object, Object> newBuilder(Duration maxAge, LongSupplier nanos) {
		return Caffeine.newBuilder().expireAfterWrite(maxAge).ticker(nanos::getAsLong).executor(Runnable::run);
	}

	/**
	 * Denies a request if it is known that the store would, and for how long; the latter
	 * may be too short if the store was asked too often.
	 */
	@Nullable Decision find(List<Part> parts) {
		long now = this.nanos.getAsLong();
		Blocked block = blocked(parts);
		Duration blockedFor = (block != null) ? block.left(now) : null;
		Questions questions = (block != null && blockedFor != null) ? block.questions() : null;
		List<LimitStatus> violated = new ArrayList<>();
		boolean complete = true;
		for (Part part : parts) {
			Standings known = known(part);
			Standing standing = (known != null) ? known.find(part.cost(), now, this.maxAge) : null;
			complete = complete && standing != null && (block != null || !standing.blocked());
			if (standing == null && known != null && part.isPossible()) {
				standing = known.findLess(part.cost(), now, this.maxAge);
			}
			if (known != null && standing != null && !standing.violated().isEmpty()) {
				violated.addAll(standing.violated());
				questions = (questions != null) ? questions : known.questions();
			}
		}
		boolean denied = questions != null && (complete || !questions.mayAsk(now, this.maxQuestions));
		return denied ? new Decision(false, violated, blockedFor, Source.DENIAL_CACHE) : null;
	}

	private @Nullable Standings known(Part part) {
		Standings known = this.accounts.getIfPresent(part.account());
		return (known != null && known.epoch() == this.epoch.get() && known.policy().equals(part.policy())) ? known
				: null;
	}

	private @Nullable Blocked blocked(List<Part> parts) {
		if (this.blocked.asMap().isEmpty()) {
			return null;
		}
		Blocked block = this.blocked.getIfPresent(accounts(parts));
		return (block != null && block.epoch() == this.epoch.get()) ? block : null;
	}

	private static List<Account> accounts(List<Part> parts) {
		return parts.stream().map(Part::account).toList();
	}

	/** Forgets everything. */
	void forgetAll() {
		this.epoch.incrementAndGet();
		this.accounts.invalidateAll();
		this.blocked.invalidateAll();
	}

	/** Forgets an account of which it is not known what has become. */
	void forget(Account account) {
		this.stamps.incrementAndGet(stamp(account));
		this.accounts.invalidate(account);
	}

	private static int stamp(Account account) {
		int hash = account.hashCode();
		return (hash ^ hash >>> 16) & STAMPS - 1;
	}

	/** A question to the store, and what was known before. */
	final class Question {

		private final List<Part> parts;

		private final long since = DenialMemory.this.nanos.getAsLong();

		private final long epoch = DenialMemory.this.epoch.get();

		private final long[] stamps;

		Question(List<Part> parts) {
			this.parts = parts;
			this.stamps = parts.stream()
				.mapToLong((part) -> DenialMemory.this.stamps.get(stamp(part.account())))
				.toArray();
		}

		/** Notes that the store has denied the request. */
		void denied(Decision decision) {
			for (int i = 0; i < this.parts.size(); i++) {
				remember(i, decision);
			}
			Duration time = decision.blockedFor();
			if (time != null) {
				Blocked known = blocked(this.parts);
				DenialMemory.this.blocked.put(accounts(this.parts), new Blocked(time, this.since, this.epoch,
						(known != null) ? known.questions() : new Questions()));
			}
		}

		/**
		 * Unless something was used or given back meanwhile: who forgets waits for this.
		 */
		private void remember(int at, Decision decision) {
			Part part = this.parts.get(at);
			Standing standing = new Standing(
					decision.violated().stream().filter((status) -> part.isOf(status)).toList(), this.since,
					decision.blockedFor() != null);
			DenialMemory.this.accounts.asMap().compute(part.account(), (account, before) -> {
				Standings known = (before != null && before.epoch() == this.epoch
						&& before.policy().equals(part.policy())) ? before : null;
				if (DenialMemory.this.stamps.get(stamp(account)) != this.stamps[at]) {
					return known;
				}
				return ((known != null) ? known : Standings.of(part.policy(), this.epoch)).with(part.cost(), standing);
			});
		}

	}

}
