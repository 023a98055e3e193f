package io.github.ratelimit.test;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Block;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

public abstract class BlockListContract extends RateLimiterContract {

	private static final Policy API = policy(new SlidingLog(), "3/m");

	private static final Policy EXPORT = policy("export", new FixedWindow(), "2/d");

	private static final RateLimitRequest EVERYTHING = RateLimitRequest.of(Charge.of(API, ALICE, ADDRESS),
			Charge.of(EXPORT, ALICE));

	private static final Duration MICROSECOND = Duration.ofNanos(1000);

	private Duration blockedFor(Policy policy) {
		return this.limiter.tryAcquire(policy, ALICE).blockedFor();
	}

	@Test
	void blockedIdentifierIsDeniedUntilTheBlockEnds() {
		Block block = blocks().block(ALICE, null, Duration.ofMinutes(15), "scraping");
		assertThat(block)
			.isEqualTo(new Block(ALICE, null, this.clock.instant().plus(Duration.ofMinutes(15)), "scraping"));
		Decision denied = this.limiter.tryAcquire(EVERYTHING);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.blockedFor()).isEqualTo(Duration.ofMinutes(15));
		assertThat(denied.retryAfter()).contains(Duration.ofMinutes(15));
		assertThat(denied.violated()).isEmpty();
		assertThat(denied.statuses()).extracting(LimitStatus::remaining).containsExactly(3L, 3L, 2L);
		this.clock.advance(Duration.ofMinutes(15).minus(MICROSECOND));
		assertThat(this.limiter.tryAcquire(EVERYTHING).retryAfter()).contains(MICROSECOND);
		this.clock.advance(MICROSECOND);
		assertThat(this.limiter.tryAcquire(EVERYTHING).allowed()).isTrue();
		assertThat(blocks().blocks()).isEmpty();
	}

	@Test
	void blockInOnePolicyLeavesTheOthersAlone() {
		blocks().block(ALICE, "export", Duration.ofHours(1), "");
		assertThat(this.limiter.tryAcquire(API, ALICE).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(EXPORT, ADDRESS).allowed()).isTrue();
		assertThat(blockedFor(EXPORT)).isEqualTo(Duration.ofHours(1));
		assertThat(this.limiter.tryAcquire(EVERYTHING).blockedFor()).isEqualTo(Duration.ofHours(1));
	}

	@Test
	void blockedRequestUsesNothingEvenWhereDeniedRequestsCount() {
		RateLimitRequest strict = RateLimitRequest.of(API.withCountDenied(true), ALICE);
		blocks().block(ALICE, null, Duration.ofMinutes(1), "");
		assertThat(this.limiter.tryAcquire(strict).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(API, ALICE, 0).allowed()).isFalse();
		assertThat(this.limiter.peek(strict).blockedFor()).isEqualTo(Duration.ofMinutes(1));
		blocks().unblock(ALICE, null);
		assertThat(remaining(API, ALICE)).containsExactly(3L);
	}

	@Test
	void blockInAPolicyInShadowModeIsOnlyReported() {
		blocks().block(ADDRESS, "export", Duration.ofMinutes(5), "");
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
		blocks().block(ALICE, null, Duration.ofSeconds(10), "");
		assertThat(this.limiter.tryAcquire(API, ALICE).retryAfter()).contains(Duration.ofMinutes(1));
		blocks().block(ALICE, null, Duration.ofMinutes(10), "");
		assertThat(this.limiter.tryAcquire(API, ALICE).retryAfter()).contains(Duration.ofMinutes(10));
		assertThat(this.limiter.tryAcquire(API, ALICE, 4).retryAfter()).isEmpty();
	}

	@Test
	void pauseDeniesWithoutBeingListed() {
		blocks().pause(ALICE, "api", Duration.ofSeconds(30));
		blocks().block(ALICE, "export", Duration.ofSeconds(10), "");
		assertThat(blockedFor(API)).isEqualTo(Duration.ofSeconds(30));
		assertThat(this.limiter.tryAcquire(API, ADDRESS).allowed()).isTrue();
		assertThat(blocks().blocks()).extracting(Block::policy).containsExactly("export");
		assertAllowedAfter(Duration.ofSeconds(30), API, 1);
		blocks().pause(ALICE, "api", Duration.ofSeconds(30));
		assertThat(blocks().unblock(ALICE, "api")).isTrue();
		assertThat(this.limiter.tryAcquire(API, ALICE).allowed()).isTrue();
		assertThatIllegalArgumentException().isThrownBy(() -> blocks().pause(ALICE, "api", Duration.ZERO));
		assertThatIllegalArgumentException().isThrownBy(() -> blocks().pause(ALICE, "", Duration.ofSeconds(1)));
	}

	@Test
	void pauseNeverEndsABlockOrALongerPause() {
		Block block = blocks().block(ALICE, "api", Duration.ofMinutes(10), "scraping");
		blocks().pause(ALICE, "api", Duration.ofSeconds(1));
		assertThat(blockedFor(API)).isEqualTo(Duration.ofMinutes(10));
		blocks().pause(ALICE, "api", Duration.ofMinutes(20));
		blocks().pause(ALICE, "api", Duration.ofSeconds(1));
		assertThat(blockedFor(API)).isEqualTo(Duration.ofMinutes(20));
		assertThat(blocks().blocks()).containsExactly(block);
		this.clock.advance(Duration.ofMinutes(10));
		assertThat(blockedFor(API)).isEqualTo(Duration.ofMinutes(10));
		assertThat(blocks().blocks()).isEmpty();
		assertThat(blocks().unblock(ALICE, "api")).isTrue();
		assertThat(this.limiter.tryAcquire(API, ALICE).allowed()).isTrue();
	}

	@Test
	void laterBlockReplacesEarlierBlocksAndPauses() {
		blocks().pause(ALICE, "api", Duration.ofMinutes(20));
		blocks().block(ALICE, "api", Duration.ofHours(1), "first");
		Block second = blocks().block(ALICE, "api", Duration.ofSeconds(5), "second");
		assertThat(blockedFor(API)).isEqualTo(Duration.ofSeconds(5));
		assertThat(blocks().blocks()).containsExactly(second);
	}

	@Test
	void unblockEndsOneBlock() {
		blocks().block(ALICE, null, Duration.ofMinutes(1), "");
		blocks().block(ALICE, "api", Duration.ofMinutes(2), "");
		assertThat(blocks().unblock(ADDRESS, null)).isFalse();
		assertThat(blocks().unblock(ALICE, "export")).isFalse();
		assertThat(blocks().unblock(ALICE, "api")).isTrue();
		assertThat(blocks().unblock(ALICE, "api")).isFalse();
		assertThat(blockedFor(API)).isEqualTo(Duration.ofMinutes(1));
		assertThat(blocks().unblock(ALICE, null)).isTrue();
		assertThat(this.limiter.tryAcquire(API, ALICE).allowed()).isTrue();
		assertThat(blocks().blocks()).isEmpty();
	}

	@Test
	void blocksAreListedFromTheFirstThatEnds() {
		Block last = blocks().block(ALICE, null, Duration.ofHours(3), "three");
		Block first = blocks().block(ADDRESS, "api", Duration.ofHours(1), "one");
		Block second = blocks().block(ALICE, "export", Duration.ofHours(2), "two");
		assertThat(blocks().blocks()).containsExactly(first, second, last);
		this.clock.advance(Duration.ofHours(1));
		assertThat(blocks().blocks()).containsExactly(second, last);
		this.clock.advance(Duration.ofDays(1));
		assertThat(blocks().blocks()).isEmpty();
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
			blocks().block(identifier, null, Duration.ofMinutes(1), "reason {:}\n3:abc " + identifier.type());
		}
		assertThat(blocks().blocks()).extracting(Block::identifier).containsExactlyInAnyOrderElementsOf(odd);
		assertThat(blocks().blocks()).allSatisfy((block) -> {
			assertThat(block.reason()).isEqualTo("reason {:}\n3:abc " + block.identifier().type());
			assertThat(this.limiter.tryAcquire(API, block.identifier()).allowed()).isFalse();
		});
		assertThat(this.limiter.tryAcquire(API, new Identifier("x", "z")).allowed()).isTrue();
	}

	@Test
	void reasonMayHoldAnythingUpToItsLength() {
		Stream
			.concat(Stream.of("", "%", "%25", "%uD83D", "100 %", "\uD83D", "\uDE00\uD83D\uD83D\uDE00\uDE00",
					"\uD800\uDBFF", "\uDC00x\uDFFF", "?", "\uFFFD", "\u0000", "4:\n"),
					Stream.of("x", "%", "\u2603", "\uD83D").map((letter) -> letter.repeat(256)))
			.forEach((reason) -> {
				Block block = blocks().block(ALICE, null, Duration.ofMinutes(1), reason);
				assertThat(block.reason()).isEqualTo(reason);
				assertThat(blocks().blocks()).containsExactly(block);
			});
	}

	@Test
	void blockOutOfRangeIsRefused() {
		Duration hour = Duration.ofHours(1);
		assertRefused("api", Duration.ofNanos(999_999), "",
				"Invalid time (PT0.000999999S): must be from 1ms to 3650d.");
		assertRefused("api", Duration.ofDays(3651), "", "Invalid time (PT87624H): must be from 1ms to 3650d.");
		assertRefused("api", hour, "x".repeat(257), "Invalid reason (257 characters): must be at most 256.");
		for (String policy : List.of("", " ", "a/b", "x".repeat(65_536))) {
			assertRefused(policy, hour, "", "Invalid policy name (");
			assertThatIllegalArgumentException().isThrownBy(() -> blocks().unblock(ALICE, policy))
				.withMessageStartingWith("Invalid policy name (");
		}
		assertThat(this.limiter.tryAcquire(API, ALICE).allowed()).isTrue();
		assertThat(blocks().blocks()).isEmpty();
	}

	private void assertRefused(String policy, Duration time, String reason, String message) {
		assertThatIllegalArgumentException().isThrownBy(() -> blocks().block(ALICE, policy, time, reason))
			.withMessageStartingWith(message);
	}

}
