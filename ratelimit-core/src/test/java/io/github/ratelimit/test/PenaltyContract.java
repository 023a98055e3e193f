package io.github.ratelimit.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Block;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

public abstract class PenaltyContract extends RateLimiterContract {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Duration BLOCK = Duration.ofMinutes(15);

	private static final Duration UP_TO = Duration.ofHours(2);

	private static final Penalty PENALTY = new Penalty(4, MINUTE, BLOCK, UP_TO);

	/** Its quota does not arrive during a test. */
	private static final Policy LOGIN = policy("login", new FixedWindow(), "2/3650d").withPenalty(PENALTY);

	private final List<Block> penalties = new CopyOnWriteArrayList<>();

	private final List<Block> shadows = new CopyOnWriteArrayList<>();

	@Override
	protected void penalized(Block block, boolean shadow) {
		(shadow ? this.shadows : this.penalties).add(block);
	}

	private void use(Policy policy) {
		assertThat(this.limiter.tryAcquire(policy, ALICE, 2).allowed()).isTrue();
	}

	private void deny(Policy policy, int requests) {
		LongStream.range(0, requests)
			.forEach((i) -> assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse());
	}

	private Block block(Duration time) {
		return new Block(ALICE, "login", this.clock.instant().plus(time), "denied 4 times in 1m by policy 'login'");
	}

	private @Nullable Duration blockedFor(Policy policy) {
		return this.limiter.tryAcquire(policy, ALICE).blockedFor();
	}

	@EachAlgorithm
	void identifierDeniedTooOftenIsBlockedInThePolicy(Algorithm algorithm) {
		Policy policy = policy("login", algorithm, "2/m", "3/h").withPenalty(PENALTY);
		use(policy);
		deny(policy, 3);
		assertThat(this.penalties).isEmpty();
		Decision penalized = this.limiter.tryAcquire(policy, ALICE);
		assertThat(penalized.allowed()).isFalse();
		assertThat(penalized.blockedFor()).isEqualTo(BLOCK);
		assertThat(penalized.retryAfter()).contains(BLOCK);
		assertThat(this.penalties).containsExactly(block(BLOCK));
		assertThat(blocks().blocks()).containsExactly(block(BLOCK));
		assertThat(this.limiter.tryAcquire(policy, ADDRESS).allowed()).isTrue();
		Policy other = policy("other", algorithm, "2/m").withPenalty(PENALTY);
		assertThat(this.limiter.tryAcquire(other, ALICE).allowed()).isTrue();
		this.clock.advance(BLOCK.minusNanos(1000));
		assertThat(blockedFor(policy)).isEqualTo(Duration.ofNanos(1000));
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(blockedFor(policy)).isNull();
		assertThat(blocks().blocks()).isEmpty();
	}

	@EachAlgorithm
	void denialThatLeadsToABlockCounts(Algorithm algorithm) {
		Policy policy = policy("login", algorithm, "2/m", "50/h").withCountDenied(true).withPenalty(PENALTY);
		use(policy);
		deny(policy, 4);
		assertThat(this.penalties).hasSize(1);
		assertThat(remaining(policy, ALICE)).containsExactly(0L, 44L);
		deny(policy, 1);
		assertThat(remaining(policy, ALICE)).containsExactly(0L, 44L);
	}

	@Test
	void denialsCountInWindowsThatBeginWithTheFirst() {
		use(LOGIN);
		for (Duration time : List.of(MINUTE, MINUTE.minusNanos(1000))) {
			deny(LOGIN, 3);
			this.clock.advance(time);
		}
		assertThat(this.penalties).isEmpty();
		deny(LOGIN, 1);
		assertThat(this.penalties).hasSize(1);
	}

	@ParameterizedTest
	@CsvSource({ "120, 15 30 60 120 120 120", "20, 15 20 20" })
	void eachBlockIsTwiceAsLongUpToTheLongest(int longest, String minutes) {
		Policy policy = LOGIN.withPenalty(new Penalty(4, MINUTE, BLOCK, Duration.ofMinutes(longest)));
		use(policy);
		for (String block : minutes.split(" ")) {
			deny(policy, 3);
			assertThat(blockedFor(policy)).isEqualTo(Duration.ofMinutes(Long.parseLong(block)));
			this.clock.advance(Duration.ofMinutes(Long.parseLong(block)));
		}
	}

	/** However many are denied meanwhile, if they are too few for a block. */
	@ParameterizedTest
	@CsvSource({ "0, -1000, 30", "0, 0, 15", "3, 0, 15" })
	void lengthFallsBackAfterAQuietTime(int few, long nanos, long minutes) {
		use(LOGIN);
		deny(LOGIN, 4);
		this.clock.advance(BLOCK.plus(UP_TO).minus(MINUTE));
		deny(LOGIN, few);
		this.clock.advance(MINUTE.plusNanos(nanos));
		deny(LOGIN, 3);
		assertThat(blockedFor(LOGIN)).isEqualTo(Duration.ofMinutes(minutes));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void blockedIdentifierIsNotDeniedMoreOften(boolean everywhere) {
		use(LOGIN);
		deny(LOGIN, 3);
		blocks().block(ALICE, everywhere ? null : "login", Duration.ofSeconds(10), "manual");
		deny(LOGIN, 30);
		this.clock.advance(Duration.ofSeconds(10));
		assertThat(this.penalties).isEmpty();
		assertThat(blockedFor(LOGIN)).isEqualTo(BLOCK);
		deny(LOGIN, 30);
		this.clock.advance(BLOCK);
		deny(LOGIN, 3);
		assertThat(this.penalties).hasSize(1);
	}

	/** Also beside an identifier that is blocked. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void onlyIdentifiersWhoseOwnLimitIsViolatedAreDenied(boolean blocked) {
		Policy shared = policy("shared", new FixedWindow(), "9/3650d").withPenalty(PENALTY);
		use(LOGIN);
		blocks().block(ADDRESS, blocked ? null : "other", MINUTE, "manual");
		RateLimitRequest request = RateLimitRequest.of(Charge.of(LOGIN, ADDRESS, ALICE),
				Charge.of(shared, ALICE, ADDRESS));
		for (int i = 0; i < 3; i++) {
			assertThat(this.limiter.tryAcquire(request).blockedFor()).isEqualTo(blocked ? MINUTE : null);
		}
		assertThat(this.limiter.tryAcquire(request).blockedFor()).isEqualTo(BLOCK);
		assertThat(this.penalties).extracting(Block::identifier, Block::policy).containsExactly(tuple(ALICE, "login"));
		assertThat(this.limiter.tryAcquire(shared, ALICE).allowed()).isTrue();
	}

	@Test
	void severalArePenalizedAtOnceAndOtherBlocksStay() {
		Policy export = policy("export", new FixedWindow(), "2/d").withPenalty(new Penalty(4, MINUTE, UP_TO, UP_TO));
		RateLimitRequest request = RateLimitRequest.of(Charge.of(LOGIN, ALICE, ADDRESS),
				Charge.of(export, ALICE, ADDRESS));
		Block other = blocks().block(ALICE, "other", UP_TO, "manual");
		blocks().block(ALICE, "ended", Duration.ofMillis(1), "manual");
		this.clock.advance(Duration.ofMillis(1));
		List<Decision> decisions = Stream.generate(() -> this.limiter.tryAcquire(request)).limit(6).toList();
		assertThat(decisions.get(5).blockedFor()).isEqualTo(UP_TO);
		assertThat(blocks().blocks()).hasSize(5).containsAll(this.penalties).contains(other);
		assertThat(blockedFor(LOGIN)).isEqualTo(BLOCK);
		assertThat(this.limiter.tryAcquire(export, ADDRESS).blockedFor()).isEqualTo(UP_TO);
		assertThat(blockedFor(policy("other", new FixedWindow(), "2/d"))).isEqualTo(UP_TO.minusMillis(1));
	}

	@Test
	void impossibleCostsPeeksAndFreeRequestsAreNoDenials() {
		use(LOGIN);
		for (int i = 0; i < 9; i++) {
			this.limiter.tryAcquire(LOGIN, ALICE, 3);
			this.limiter.tryAcquire(LOGIN, ALICE, 0);
			this.limiter.peek(request(LOGIN, 1));
		}
		assertThat(blockedFor(LOGIN)).isNull();
	}

	@Test
	void blockThatIsEndedIsFollowedByALongerOne() {
		use(LOGIN);
		deny(LOGIN, 4);
		assertThat(blocks().unblock(ALICE, "login")).isTrue();
		assertThat(blocks().blocks()).isEmpty();
		deny(LOGIN, 3);
		assertThat(this.penalties).hasSize(1);
		assertThat(blockedFor(LOGIN)).isEqualTo(BLOCK.multipliedBy(2));
	}

	@Test
	void resetForgetsDenialsAndFormerPenaltiesButEndsNoBlock() {
		use(LOGIN);
		deny(LOGIN, 4);
		this.limiter.reset(LOGIN, ALICE);
		assertThat(blockedFor(LOGIN)).isEqualTo(BLOCK);
		this.clock.advance(BLOCK);
		use(LOGIN);
		deny(LOGIN, 3);
		this.limiter.reset(LOGIN, ALICE);
		use(LOGIN);
		deny(LOGIN, 3);
		assertThat(blockedFor(LOGIN)).isEqualTo(BLOCK);
	}

	@Test
	void denialsOfOthersAreCounted() {
		this.limiter.countDenials(List.of(Charge.of(LOGIN, ALICE).withCost(3), Charge.of(LOGIN, ADDRESS)));
		assertThat(this.penalties).isEmpty();
		this.limiter.countDenials(
				List.of(Charge.of(LOGIN, ALICE).withCost(1), Charge.of(LOGIN.withPenalty(null), ALICE).withCost(9)));
		assertThat(this.penalties).extracting(Block::identifier).containsExactly(ALICE);
		this.limiter.countDenials(List.of(Charge.of(LOGIN, ALICE).withCost(1000)));
		assertThat(this.penalties).hasSize(1);
		assertThat(blockedFor(LOGIN)).isEqualTo(BLOCK);
		assertThat(blocks().blocks()).isEqualTo(this.penalties);
	}

	@Test
	void penaltyInShadowModeIsOnlyReported() {
		Policy policy = LOGIN.withPenalty(new Penalty(4, MINUTE, BLOCK, UP_TO, true));
		use(policy);
		deny(policy, 100);
		assertThat(this.shadows).containsExactly(block(BLOCK));
		this.limiter.countDenials(List.of(Charge.of(policy, ALICE).withCost(100)));
		this.clock.advance(BLOCK.minusNanos(1000));
		deny(policy, 100);
		assertThat(this.shadows).hasSize(1);
		this.clock.advance(Duration.ofNanos(1000));
		deny(policy, 3);
		assertThat(blockedFor(policy)).isNull();
		assertThat(this.shadows).hasSize(2).endsWith(block(BLOCK.multipliedBy(2)));
		assertThat(this.penalties).isEmpty();
		assertThat(blocks().blocks()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void policyInShadowModeOnlyReportsPenalties(boolean countDenied) {
		Policy policy = LOGIN.withCountDenied(countDenied);
		Policy full = policy("full", new FixedWindow(), "5/3650d");
		use(policy);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, ALICE).inShadow(), Charge.of(full, ALICE));
		for (int i = 0; i < 3; i++) {
			assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		}
		this.limiter.tryAcquire(full, ALICE, 2);
		assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		assertThat(this.shadows).isEmpty();
		this.limiter.reset(full, ALICE);
		Decision decision = this.limiter.tryAcquire(request);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.shadows().get("login").blockedFor()).isNull();
		assertThat(this.shadows).hasSize(1);
		this.clock.advance(BLOCK);
		this.limiter.countDenials(List.of(Charge.of(policy, ALICE).withCost(4).inShadow()));
		assertThat(this.shadows).hasSize(2).extracting(Block::identifier).containsOnly(ALICE);
		assertThat(this.penalties).isEmpty();
		assertThat(blocks().blocks()).isEmpty();
	}

	@Test
	void clockSetBackKeepsNoDenialsOrPenalties() {
		use(LOGIN);
		deny(LOGIN, 3);
		this.clock.advance(Duration.ofDays(-400));
		deny(LOGIN, 3);
		assertThat(this.penalties).isEmpty();
		deny(LOGIN, 1);
		assertThat(blocks().unblock(ALICE, "login")).isTrue();
		this.clock.advance(Duration.ofDays(-400));
		deny(LOGIN, 3);
		assertThat(blockedFor(LOGIN)).isEqualTo(BLOCK);
	}

	@Test
	void changedPenaltyAppliesToTheNextDenial() {
		use(LOGIN);
		deny(LOGIN, 2);
		Policy strict = LOGIN.withPenalty(new Penalty(3, MINUTE, MINUTE, MINUTE));
		assertThat(blockedFor(strict)).isEqualTo(MINUTE);
		this.clock.advance(MINUTE);
		deny(LOGIN, 3);
		assertThat(blockedFor(LOGIN)).isEqualTo(BLOCK);
	}

	@Test
	void largestNumbersDoNotOverflow() {
		Policy policy = LOGIN
			.withPenalty(new Penalty(Penalty.MAX_DENIALS, Limit.MAX_WINDOW, Limit.MAX_WINDOW, Limit.MAX_WINDOW));
		this.limiter.countDenials(List.of(Charge.of(policy, ALICE).withCost(Penalty.MAX_DENIALS - 1)));
		assertThat(this.penalties).isEmpty();
		this.limiter.countDenials(List.of(Charge.of(policy, ALICE).withCost(Limit.MAX_QUOTA)));
		assertThat(this.penalties).extracting(Block::until)
			.containsExactly(this.clock.instant().plus(Limit.MAX_WINDOW));
	}

	/**
	 * Never for fewer than so many within the time, always for twice as many less one.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 5 })
	void boundHolds(int after) {
		Random random = new Random(after);
		Duration within = Duration.ofMillis(100);
		Policy policy = LOGIN.withPenalty(new Penalty(after, within, Duration.ofMillis(1), Duration.ofMillis(1)));
		use(policy);
		List<Instant> denied = new ArrayList<>();
		int before = 0;
		for (int i = 0; i < 1000; i++) {
			this.clock.advance(Duration.ofNanos(1000L * random.nextInt(2 * 100_000 / after)));
			deny(policy, 1);
			denied.add(this.clock.instant());
			Instant start = this.clock.instant().minus(within);
			long recent = denied.stream().filter((time) -> time.isAfter(start)).count();
			if (this.penalties.size() > before) {
				assertThat(recent).isGreaterThanOrEqualTo(after);
				before = this.penalties.size();
				denied.clear();
				this.clock.advance(Duration.ofMillis(1));
			}
			else {
				assertThat(recent).isLessThan(2L * after - 1);
			}
		}
		assertThat(before).isPositive();
	}

}
