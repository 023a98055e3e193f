package io.github.ratelimit.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Penalties of identifiers that are denied too often, in every store that has blocks.
 */
public abstract class PenaltyContract extends RateLimiterContract {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Duration BLOCK = Duration.ofMinutes(15);

	private static final Duration UP_TO = Duration.ofHours(2);

	private static final Penalty PENALTY = new Penalty(4, MINUTE, BLOCK, UP_TO);

	/** Its quota does not arrive during a test. */
	private static final Policy LOGIN = Policy.of("login", new FixedWindow(), Limit.parse("2/3650d"))
		.withPenalty(PENALTY);

	private final List<Block> penalties = new CopyOnWriteArrayList<>();

	private final List<Block> shadows = new CopyOnWriteArrayList<>();

	@Override
	protected void penalized(Block block, boolean shadow) {
		(shadow ? this.shadows : this.penalties).add(block);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void identifierDeniedTooOftenIsBlockedInThePolicy(Algorithm algorithm) {
		Policy policy = Policy.of("login", algorithm, Limit.parse("2/m"), Limit.parse("3/h")).withPenalty(PENALTY);
		use(policy, 2);
		for (int i = 0; i < 3; i++) {
			Decision denied = this.limiter.tryAcquire(policy, ALICE);
			assertThat(denied.blockedFor()).isNull();
			assertThat(denied.violated()).isNotEmpty();
			this.clock.advance(Duration.ofSeconds(1));
		}
		Decision penalized = this.limiter.tryAcquire(policy, ALICE);
		assertThat(penalized.allowed()).isFalse();
		assertThat(penalized.blockedFor()).isEqualTo(BLOCK);
		assertThat(penalized.retryAfter()).contains(BLOCK);
		Block block = new Block(ALICE, "login", this.clock.instant().plus(BLOCK),
				"denied 4 times in 1m by policy 'login'");
		assertThat(this.penalties).containsExactly(block);
		assertThat(blocks().blocks()).containsExactly(block);
		assertThat(this.limiter.tryAcquire(policy, ADDRESS).allowed()).isTrue();
		Policy other = Policy.of("other", algorithm, Limit.parse("2/m")).withPenalty(PENALTY);
		assertThat(this.limiter.tryAcquire(other, ALICE).allowed()).isTrue();
		this.clock.advance(BLOCK.minusNanos(1000));
		assertThat(this.limiter.tryAcquire(policy, ALICE).blockedFor()).isEqualTo(Duration.ofNanos(1000));
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(this.limiter.tryAcquire(policy, ALICE).blockedFor()).isNull();
		assertThat(blocks().blocks()).isEmpty();
		assertThat(this.penalties).hasSize(1);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void denialThatLeadsToABlockCounts(Algorithm algorithm) {
		Policy policy = Policy.of("login", algorithm, Limit.parse("2/m"), Limit.parse("50/h"))
			.withCountDenied(true)
			.withPenalty(PENALTY);
		use(policy, 2);
		deny(policy, 4);
		assertThat(this.penalties).hasSize(1);
		assertThat(remaining(policy, ALICE)).containsExactly(0L, 44L);
		deny(policy, 1);
		assertThat(remaining(policy, ALICE)).containsExactly(0L, 44L);
	}

	@Test
	void denialsCountInWindowsThatBeginWithTheFirst() {
		use(LOGIN, 2);
		deny(LOGIN, 3);
		this.clock.advance(MINUTE);
		deny(LOGIN, 3);
		this.clock.advance(MINUTE.minusNanos(1000));
		assertThat(this.penalties).isEmpty();
		deny(LOGIN, 1);
		assertThat(this.penalties).hasSize(1);
	}

	@Test
	void eachBlockIsTwiceAsLongUpToTheLongest() {
		use(LOGIN, 2);
		List<Long> minutes = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			deny(LOGIN, 3);
			Duration block = this.limiter.tryAcquire(LOGIN, ALICE).blockedFor();
			minutes.add(block.toMinutes());
			this.clock.advance(block);
		}
		assertThat(minutes).containsExactly(15L, 30L, 60L, 120L, 120L, 120L);
	}

	@Test
	void lengthThatIsNoDoubleOfTheFirstIsReached() {
		Policy policy = LOGIN.withPenalty(new Penalty(1, MINUTE, BLOCK, Duration.ofMinutes(20)));
		use(policy, 2);
		assertThat(this.limiter.tryAcquire(policy, ALICE).blockedFor()).isEqualTo(BLOCK);
		this.clock.advance(BLOCK);
		assertThat(this.limiter.tryAcquire(policy, ALICE).blockedFor()).isEqualTo(Duration.ofMinutes(20));
	}

	@ParameterizedTest
	@ValueSource(longs = { -1000, 0 })
	void lengthFallsBackAfterAQuietTime(long nanos) {
		use(LOGIN, 2);
		deny(LOGIN, 4);
		this.clock.advance(BLOCK.plus(UP_TO).plusNanos(nanos));
		deny(LOGIN, 3);
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor())
			.isEqualTo((nanos == 0) ? BLOCK : BLOCK.multipliedBy(2));
	}

	@Test
	void fewDenialsDoNotProlongTheQuietTime() {
		use(LOGIN, 2);
		deny(LOGIN, 4);
		this.clock.advance(BLOCK.plus(UP_TO).minus(MINUTE));
		deny(LOGIN, 3);
		this.clock.advance(MINUTE);
		deny(LOGIN, 3);
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isEqualTo(BLOCK);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void blockedIdentifierIsNotDeniedMoreOften(boolean everywhere) {
		use(LOGIN, 2);
		deny(LOGIN, 3);
		blocks().block(ALICE, everywhere ? null : "login", Duration.ofSeconds(10), "manual");
		deny(LOGIN, 30);
		this.clock.advance(Duration.ofSeconds(10));
		assertThat(this.penalties).isEmpty();
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isEqualTo(BLOCK);
		deny(LOGIN, 30);
		this.clock.advance(BLOCK);
		deny(LOGIN, 3);
		assertThat(this.penalties).hasSize(1);
	}

	@Test
	void onlyIdentifiersWhoseOwnLimitIsViolatedAreDenied() {
		Policy shared = Policy.of("shared", new FixedWindow(), Limit.parse("9/3650d")).withPenalty(PENALTY);
		use(LOGIN, 2);
		blocks().block(ADDRESS, "other", Duration.ofHours(5), "elsewhere");
		RateLimitRequest request = RateLimitRequest.of(Charge.of(LOGIN, ADDRESS, ALICE),
				Charge.of(shared, ALICE, ADDRESS));
		for (int i = 0; i < 4; i++) {
			assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		}
		assertThat(this.penalties).extracting(Block::identifier, Block::policy).containsExactly(tuple(ALICE, "login"));
		assertThat(this.limiter.tryAcquire(shared, ALICE).allowed()).isTrue();
	}

	/** Another identifier of the request is blocked; this one is denied by its limit. */
	@Test
	void denialCountsBesideABlockOfAnotherIdentifier() {
		use(LOGIN, 2);
		blocks().block(ADDRESS, null, Duration.ofMinutes(1), "manual");
		RateLimitRequest request = RateLimitRequest.of(Charge.of(LOGIN, ADDRESS, ALICE));
		for (int i = 0; i < 3; i++) {
			assertThat(this.limiter.tryAcquire(request).blockedFor()).isEqualTo(Duration.ofMinutes(1));
		}
		assertThat(this.limiter.tryAcquire(request).blockedFor()).isEqualTo(BLOCK);
	}

	@Test
	void severalPoliciesAndIdentifiersArePenalizedAtOnce() {
		Policy other = LOGIN.withLimits(LOGIN.limits());
		Policy export = Policy.of("export", new FixedWindow(), Limit.parse("2/d"))
			.withPenalty(new Penalty(4, MINUTE, UP_TO, UP_TO));
		RateLimitRequest request = RateLimitRequest.of(Charge.of(other, ALICE, ADDRESS),
				Charge.of(export, ALICE, ADDRESS));
		this.limiter.tryAcquire(request);
		this.limiter.tryAcquire(request);
		Decision last = null;
		for (int i = 0; i < 4; i++) {
			last = this.limiter.tryAcquire(request);
		}
		assertThat(last.blockedFor()).isEqualTo(UP_TO);
		assertThat(blocks().blocks()).hasSize(4).containsExactlyInAnyOrderElementsOf(this.penalties);
		assertThat(this.limiter.tryAcquire(other, ALICE).blockedFor()).isEqualTo(BLOCK);
		assertThat(this.limiter.tryAcquire(export, ADDRESS).blockedFor()).isEqualTo(UP_TO);
	}

	@Test
	void otherBlocksStay() {
		blocks().block(ALICE, "other", UP_TO, "manual");
		blocks().block(ALICE, "ended", Duration.ofMillis(1), "manual");
		use(LOGIN, 2);
		this.clock.advance(Duration.ofMillis(1));
		deny(LOGIN, 4);
		assertThat(blocks().blocks()).extracting(Block::policy).containsExactly("login", "other");
		Policy other = Policy.of("other", new FixedWindow(), Limit.parse("2/d"));
		assertThat(this.limiter.tryAcquire(other, ALICE).blockedFor()).isEqualTo(UP_TO.minusMillis(1));
	}

	@Test
	void impossibleCostsPeeksAndFreeRequestsAreNoDenials() {
		use(LOGIN, 2);
		for (int i = 0; i < 9; i++) {
			this.limiter.tryAcquire(LOGIN, ALICE, 3);
			this.limiter.tryAcquire(LOGIN, ALICE, 0);
			this.limiter.peek(request(LOGIN, 1));
		}
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isNull();
	}

	@Test
	void blockThatIsEndedIsFollowedByALongerOne() {
		use(LOGIN, 2);
		deny(LOGIN, 4);
		assertThat(blocks().unblock(ALICE, "login")).isTrue();
		assertThat(blocks().blocks()).isEmpty();
		for (int i = 0; i < 3; i++) {
			assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isNull();
		}
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isEqualTo(BLOCK.multipliedBy(2));
	}

	@Test
	void resetForgetsDenialsAndFormerPenaltiesButEndsNoBlock() {
		use(LOGIN, 2);
		deny(LOGIN, 4);
		this.limiter.reset(LOGIN, ALICE);
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isEqualTo(BLOCK);
		this.clock.advance(BLOCK);
		use(LOGIN, 2);
		deny(LOGIN, 3);
		this.limiter.reset(LOGIN, ALICE);
		use(LOGIN, 2);
		deny(LOGIN, 3);
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isEqualTo(BLOCK);
	}

	@Test
	void denialsOfOthersAreCounted() {
		this.limiter.countDenials(List.of(denials(LOGIN, 3), Charge.of(LOGIN, ADDRESS)));
		assertThat(this.penalties).isEmpty();
		this.limiter.countDenials(List.of(denials(LOGIN, 1)));
		assertThat(this.penalties).extracting(Block::identifier).containsExactly(ALICE);
		this.limiter.countDenials(List.of(denials(LOGIN, 1000)));
		assertThat(this.penalties).hasSize(1);
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isEqualTo(BLOCK);
		assertThat(blocks().blocks()).isEqualTo(this.penalties);
	}

	@Test
	void denialsOfOthersInShadowModeAreOnlyReported() {
		this.limiter.countDenials(List.of(denials(LOGIN, 4).inShadow()));
		assertThat(this.shadows).extracting(Block::identifier).containsExactly(ALICE);
		assertThat(this.penalties).isEmpty();
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).allowed()).isTrue();
		assertThat(blocks().blocks()).isEmpty();
	}

	@Test
	void denialsOfPoliciesWithoutPenaltyAreIgnored() {
		assertThatNoException()
			.isThrownBy(() -> this.limiter.countDenials(List.of(denials(LOGIN.withPenalty(null), 9))));
	}

	@Test
	void penaltyInShadowModeIsOnlyReported() {
		Policy policy = LOGIN.withPenalty(new Penalty(4, MINUTE, BLOCK, UP_TO, true));
		use(policy, 2);
		deny(policy, 100);
		Block block = new Block(ALICE, "login", this.clock.instant().plus(BLOCK),
				"denied 4 times in 1m by policy 'login'");
		assertThat(this.shadows).containsExactly(block);
		this.limiter.countDenials(List.of(denials(policy, 100)));
		this.clock.advance(BLOCK.minusNanos(1000));
		deny(policy, 100);
		assertThat(this.shadows).hasSize(1);
		this.clock.advance(Duration.ofNanos(1000));
		deny(policy, 3);
		assertThat(this.limiter.tryAcquire(policy, ALICE).blockedFor()).isNull();
		assertThat(this.shadows).hasSize(2);
		assertThat(this.shadows.get(1).until()).isEqualTo(this.clock.instant().plus(BLOCK.multipliedBy(2)));
		assertThat(this.penalties).isEmpty();
		assertThat(blocks().blocks()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void policyInShadowModeOnlyReportsPenalties(boolean countDenied) {
		Policy policy = LOGIN.withCountDenied(countDenied);
		Policy full = Policy.of("full", new FixedWindow(), Limit.parse("5/3650d"));
		use(policy, 2);
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
		assertThat(this.penalties).isEmpty();
	}

	@Test
	void clockSetBackKeepsNoDenialsOrPenalties() {
		use(LOGIN, 2);
		deny(LOGIN, 3);
		this.clock.advance(Duration.ofDays(-400));
		deny(LOGIN, 3);
		assertThat(this.penalties).isEmpty();
		deny(LOGIN, 1);
		assertThat(blocks().unblock(ALICE, "login")).isTrue();
		this.clock.advance(Duration.ofDays(-400));
		deny(LOGIN, 3);
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isEqualTo(BLOCK);
	}

	@Test
	void changedPenaltyAppliesToTheNextDenial() {
		use(LOGIN, 2);
		deny(LOGIN, 2);
		Policy strict = LOGIN.withPenalty(new Penalty(3, MINUTE, MINUTE, MINUTE));
		assertThat(this.limiter.tryAcquire(strict, ALICE).blockedFor()).isEqualTo(MINUTE);
		this.clock.advance(MINUTE);
		deny(LOGIN, 3);
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isEqualTo(BLOCK);
	}

	@Test
	void largestNumbersDoNotOverflow() {
		Policy policy = LOGIN
			.withPenalty(new Penalty(Penalty.MAX_DENIALS, Limit.MAX_WINDOW, Limit.MAX_WINDOW, Limit.MAX_WINDOW));
		this.limiter.countDenials(List.of(denials(policy, Penalty.MAX_DENIALS - 1)));
		assertThat(this.penalties).isEmpty();
		this.limiter.countDenials(List.of(denials(policy, Limit.MAX_QUOTA)));
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
		use(policy, 2);
		List<Long> denied = new ArrayList<>();
		int before = 0;
		for (int i = 0; i < 1000; i++) {
			this.clock.advance(Duration.ofNanos(1000L * random.nextInt(2 * 100_000 / after)));
			long now = Duration.between(Instant.EPOCH, this.clock.instant()).toNanos();
			deny(policy, 1);
			denied.add(now);
			long recent = within(denied, now, within);
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

	private static long within(List<Long> denied, long now, Duration within) {
		return denied.stream().mapToLong(Long::longValue).filter((time) -> now - time < within.toNanos()).count();
	}

	private BlockList blocks() {
		return (BlockList) this.limiter;
	}

	private void use(Policy policy, int requests) {
		for (int i = 0; i < requests; i++) {
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		}
	}

	private void deny(Policy policy, int requests) {
		LongStream.range(0, requests)
			.forEach((i) -> assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse());
	}

	private static Charge denials(Policy policy, long number) {
		return new Charge(policy, List.<Identifier>of(ALICE), number);
	}

}
