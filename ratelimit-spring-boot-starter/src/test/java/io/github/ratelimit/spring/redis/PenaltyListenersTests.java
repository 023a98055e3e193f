package io.github.ratelimit.spring.redis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Block;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.PenaltyListener;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class PenaltyListenersTests {

	@Test
	void failingListenerDoesNotAffectOthers(CapturedOutput output) {
		List<Block> told = new ArrayList<>();
		StaticListableBeanFactory beans = new StaticListableBeanFactory();
		beans.addBean("first", (PenaltyListener) (block, shadow) -> {
			throw new IllegalStateException("expected by this test");
		});
		beans.addBean("second", (PenaltyListener) (block, shadow) -> told.add(block));
		Block block = new Block(Identifier.ip("203.0.113.7"), "login", Instant.parse("2026-03-01T12:00:00Z"), "denied");
		new PenaltyListeners(beans.getBeanProvider(PenaltyListener.class)).penalized(block, false);
		assertThat(told).containsExactly(block);
		assertThat(output).contains(PenaltyListenersTests.class.getName() + "$$Lambda")
			.contains("failed, which changes nothing else")
			.doesNotContain("203.0.113.7");
	}

}
