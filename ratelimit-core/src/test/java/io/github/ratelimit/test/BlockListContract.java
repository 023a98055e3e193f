package io.github.ratelimit.test;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What is true of manual blocks in every store that has them.
 */
@ExtendWith(StoreUnderTest.Resolver.class)
public abstract class BlockListContract {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private static final Policy API = Policy.of("api", new SlidingLog(), Limit.parse("3/m"));

	private static final Policy EXPORT = Policy.of("export", new FixedWindow(), Limit.parse("2/d"));

	private static final RateLimitRequest EVERYTHING = RateLimitRequest.of(Charge.of(API, ALICE, ADDRESS),
			Charge.of(EXPORT, ALICE));

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20.123456Z");

	private RateLimiter limiter;

	private BlockList blocks;

	@BeforeEach
	void createRateLimiter(StoreUnderTest store) {
		this.limiter = store.create(this.clock, (block, shadow) -> {
		});
		this.blocks = (BlockList) this.limiter;
	}

	@Test
	void blockedIdentifierIsDeniedUntilTheBlockEnds() {
		Block block = this.blocks.block(ALICE, null, Duration.ofMinutes(15), "scraping");
		assertThat(block)
			.isEqualTo(new Block(ALICE, null, this.clock.instant().plus(Duration.ofMinutes(15)), "scraping"));
		Decision denied = this.limiter.tryAcquire(EVERYTHING);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.blockedFor()).isEqualTo(Duration.ofMinutes(15));
		assertThat(denied.retryAfter()).contains(Duration.ofMinutes(15));
		assertThat(denied.violated()).isEmpty();
		assertThat(denied.statuses()).extracting(LimitStatus::remaining).containsExactly(3L, 3L, 2L);
		this.clock.advance(Duration.ofMinutes(15).minusNanos(1000));
		assertThat(this.limiter.tryAcquire(EVERYTHING).retryAfter()).contains(Duration.ofNanos(1000));
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(this.limiter.tryAcquire(EVERYTHING).allowed()).isTrue();
		assertThat(this.blocks.blocks()).isEmpty();
	}

	@Test
	void blockInOnePolicyLeavesTheOthersAlone() {
		this.blocks.block(ALICE, "export", Duration.ofHours(1), "");
		assertThat(this.limiter.tryAcquire(API, ALICE).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(EXPORT, ADDRESS).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(EXPORT, ALICE).blockedFor()).isEqualTo(Duration.ofHours(1));
		assertThat(this.limiter.tryAcquire(EVERYTHING).blockedFor()).isEqualTo(Duration.ofHours(1));
	}

	@Test
	void blockedRequestUsesNothingEvenWhereDeniedRequestsCount() {
		RateLimitRequest strict = RateLimitRequest.of(API.withCountDenied(true), ALICE);
		this.blocks.block(ALICE, null, Duration.ofMinutes(1), "");
		assertThat(this.limiter.tryAcquire(strict).allowed()).isFalse();
		this.blocks.unblock(ALICE, null);
		assertThat(this.limiter.peek(strict).statuses()).extracting(LimitStatus::remaining).containsExactly(3L);
	}

	@Test
	void peekAndCostOfZeroTellOfTheBlock() {
		this.blocks.block(ALICE, null, Duration.ofMinutes(1), "");
		assertThat(this.limiter.peek(RateLimitRequest.of(API, ALICE)).blockedFor()).isEqualTo(Duration.ofMinutes(1));
		assertThat(this.limiter.tryAcquire(API, ALICE, 0).allowed()).isFalse();
	}

	@Test
	void blockInAPolicyInShadowModeIsOnlyReported() {
		this.blocks.block(ADDRESS, "export", Duration.ofMinutes(5), "");
		RateLimitRequest request = RateLimitRequest.of(Charge.of(EXPORT, ALICE, ADDRESS).inShadow(),
				Charge.of(API, ALICE, ADDRESS));
		Decision decision = this.limiter.tryAcquire(request);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.blockedFor()).isNull();
		Decision shadow = decision.shadow(request.charges().get(0));
		assertThat(shadow.allowed()).isFalse();
		assertThat(shadow.blockedFor()).isEqualTo(Duration.ofMinutes(5));
		assertThat(shadow.statuses()).extracting(LimitStatus::remaining).containsExactly(2L, 2L);
		assertThat(this.limiter.peek(EVERYTHING).statuses()).extracting(LimitStatus::remaining)
			.containsExactly(2L, 2L, 2L);
	}

	@Test
	void retryAfterIsTheLongerOfBlockAndLimits() {
		this.limiter.tryAcquire(API, ALICE, 3);
		this.blocks.block(ALICE, null, Duration.ofSeconds(10), "");
		assertThat(this.limiter.tryAcquire(API, ALICE).retryAfter()).contains(Duration.ofMinutes(1));
		this.blocks.block(ALICE, null, Duration.ofMinutes(10), "");
		assertThat(this.limiter.tryAcquire(API, ALICE).retryAfter()).contains(Duration.ofMinutes(10));
		assertThat(this.limiter.tryAcquire(API, ALICE, 4).retryAfter()).isEmpty();
	}

	@Test
	void pauseDeniesWithoutBeingListed() {
		this.blocks.pause(ALICE, "api", Duration.ofSeconds(30));
		this.blocks.block(ALICE, "export", Duration.ofSeconds(10), "");
		Decision denied = this.limiter.tryAcquire(API, ALICE);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.blockedFor()).isEqualTo(Duration.ofSeconds(30));
		assertThat(this.limiter.tryAcquire(API, ADDRESS).allowed()).isTrue();
		assertThat(this.blocks.blocks()).extracting(Block::policy).containsExactly("export");
		this.clock.advance(Duration.ofSeconds(30).minusNanos(1000));
		assertThat(this.limiter.tryAcquire(API, ALICE).allowed()).isFalse();
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(this.limiter.tryAcquire(API, ALICE).allowed()).isTrue();
		this.blocks.pause(ALICE, "api", Duration.ofSeconds(30));
		assertThat(this.blocks.unblock(ALICE, "api")).isTrue();
		assertThat(this.limiter.tryAcquire(API, ALICE).allowed()).isTrue();
		assertThatIllegalArgumentException().isThrownBy(() -> this.blocks.pause(ALICE, "api", Duration.ZERO));
		assertThatIllegalArgumentException().isThrownBy(() -> this.blocks.pause(ALICE, "", Duration.ofSeconds(1)));
	}

	@Test
	void pauseNeverEndsABlockOrALongerPause() {
		Block block = this.blocks.block(ALICE, "api", Duration.ofMinutes(10), "scraping");
		this.blocks.pause(ALICE, "api", Duration.ofSeconds(1));
		assertThat(this.limiter.tryAcquire(API, ALICE).blockedFor()).isEqualTo(Duration.ofMinutes(10));
		this.blocks.pause(ALICE, "api", Duration.ofMinutes(20));
		this.blocks.pause(ALICE, "api", Duration.ofSeconds(1));
		assertThat(this.limiter.tryAcquire(API, ALICE).blockedFor()).isEqualTo(Duration.ofMinutes(20));
		assertThat(this.blocks.blocks()).containsExactly(block);
		this.clock.advance(Duration.ofMinutes(10));
		assertThat(this.limiter.tryAcquire(API, ALICE).blockedFor()).isEqualTo(Duration.ofMinutes(10));
		assertThat(this.blocks.blocks()).isEmpty();
		assertThat(this.blocks.unblock(ALICE, "api")).isTrue();
		assertThat(this.limiter.tryAcquire(API, ALICE).allowed()).isTrue();
	}

	@Test
	void blockReplacesALongerPause() {
		this.blocks.pause(ALICE, "api", Duration.ofMinutes(20));
		Block block = this.blocks.block(ALICE, "api", Duration.ofMinutes(10), "scraping");
		assertThat(this.limiter.tryAcquire(API, ALICE).blockedFor()).isEqualTo(Duration.ofMinutes(10));
		assertThat(this.blocks.blocks()).containsExactly(block);
	}

	@Test
	void unblockEndsOneBlock() {
		this.blocks.block(ALICE, null, Duration.ofMinutes(1), "");
		this.blocks.block(ALICE, "api", Duration.ofMinutes(2), "");
		assertThat(this.blocks.unblock(ADDRESS, null)).isFalse();
		assertThat(this.blocks.unblock(ALICE, "export")).isFalse();
		assertThat(this.blocks.unblock(ALICE, "api")).isTrue();
		assertThat(this.blocks.unblock(ALICE, "api")).isFalse();
		assertThat(this.limiter.tryAcquire(API, ALICE).blockedFor()).isEqualTo(Duration.ofMinutes(1));
		assertThat(this.blocks.unblock(ALICE, null)).isTrue();
		assertThat(this.limiter.tryAcquire(API, ALICE).allowed()).isTrue();
		assertThat(this.blocks.blocks()).isEmpty();
	}

	@Test
	void laterBlockReplacesTheEarlier() {
		this.blocks.block(ALICE, null, Duration.ofHours(1), "first");
		Block second = this.blocks.block(ALICE, null, Duration.ofSeconds(5), "second");
		assertThat(this.blocks.blocks()).containsExactly(second);
		assertThat(this.limiter.tryAcquire(API, ALICE).blockedFor()).isEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void blocksAreListedFromTheFirstThatEnds() {
		Block last = this.blocks.block(ALICE, null, Duration.ofHours(3), "three");
		Block first = this.blocks.block(ADDRESS, "api", Duration.ofHours(1), "one");
		Block second = this.blocks.block(ALICE, "export", Duration.ofHours(2), "two");
		assertThat(this.blocks.blocks()).containsExactly(first, second, last);
		this.clock.advance(Duration.ofHours(1));
		assertThat(this.blocks.blocks()).containsExactly(second, last);
		this.clock.advance(Duration.ofDays(1));
		assertThat(this.blocks.blocks()).isEmpty();
	}

	@Test
	void anyTextCanBeBlocked() {
		List<Identifier> odd = List.of(new Identifier("a:b", "c"), new Identifier("a", "b:c"), new Identifier("x", "}"),
				new Identifier("x", "{y}"), new Identifier("x", ""), new Identifier("x", "\n\u0000"),
				new Identifier("x", "\uD83D\uDE00"), new Identifier("x", "y".repeat(65_536)), new Identifier("x", "?"),
				new Identifier("x", "\uD83D"), new Identifier("x", "\uD83E"), new Identifier("x", "\uDE00\uD83D"),
				new Identifier("\uDE00", "%"), new Identifier("x", "%25"), new Identifier("x", "%uD83D"),
				new Identifier("x", "\uFFFD"), new Identifier("x", "\uDFFF".repeat(20_000)));
		for (Identifier identifier : odd) {
			this.blocks.block(identifier, null, Duration.ofMinutes(1), "reason {:}\n3:abc " + identifier.type());
		}
		assertThat(this.blocks.blocks()).extracting(Block::identifier).containsExactlyInAnyOrderElementsOf(odd);
		assertThat(this.blocks.blocks()).allSatisfy((block) -> {
			assertThat(block.reason()).isEqualTo("reason {:}\n3:abc " + block.identifier().type());
			assertThat(this.limiter.tryAcquire(API, block.identifier()).allowed()).isFalse();
		});
		assertThat(this.limiter.tryAcquire(API, new Identifier("x", "z")).allowed()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "%", "%25", "%uD83D", "100 %", "\uD83D", "\uDE00\uD83D\uD83D\uDE00\uDE00",
			"\uD800\uDBFF", "\uDC00x\uDFFF", "?", "\uFFFD", "\u0000", "4:\n" })
	void reasonMayHoldAnything(String reason) {
		Block block = this.blocks.block(ALICE, null, Duration.ofMinutes(1), reason);
		assertThat(block.reason()).isEqualTo(reason);
		assertThat(this.blocks.blocks()).containsExactly(block);
	}

	@Test
	void timeOutOfRangeIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.blocks.block(ALICE, null, Duration.ofNanos(999_999), ""))
			.withMessage("Invalid time (PT0.000999999S): must be from 1ms to 3650d.");
		assertThatIllegalArgumentException().isThrownBy(() -> this.blocks.block(ALICE, null, Duration.ofDays(3651), ""))
			.withMessage("Invalid time (PT87624H): must be from 1ms to 3650d.");
		assertThat(this.blocks.blocks()).isEmpty();
	}

	@Test
	void policyThatCanHaveNoSuchNameIsRefused() {
		for (String policy : List.of("", " ", "a/b", "x".repeat(65_536))) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> this.blocks.block(ALICE, policy, Duration.ofHours(1), ""))
				.withMessageStartingWith("Invalid policy name (");
			assertThatIllegalArgumentException().isThrownBy(() -> this.blocks.unblock(ALICE, policy))
				.withMessageStartingWith("Invalid policy name (");
		}
		assertThat(this.limiter.tryAcquire(API, ALICE).allowed()).isTrue();
		assertThat(this.blocks.blocks()).isEmpty();
	}

	@Test
	void longestReasonIsKept() {
		for (String letter : List.of("x", "%", "\u2603", "\uD83D")) {
			Block block = this.blocks.block(ALICE, null, Duration.ofHours(1), letter.repeat(256));
			assertThat(this.blocks.blocks()).containsExactly(block);
		}
	}

	@Test
	void reasonThatIsTooLongIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.blocks.block(ALICE, null, Duration.ofHours(1), "x".repeat(257)))
			.withMessage("Invalid reason (257 characters): must be at most 256.");
	}

}
