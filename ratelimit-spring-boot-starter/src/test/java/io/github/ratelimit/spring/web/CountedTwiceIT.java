package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the log tells of policies that count by paths and annotations, behind a servlet
 * path.
 */
@ExtendWith(OutputCaptureExtension.class)
class CountedTwiceIT {

	private static final String LIMITS = ".limits=9/m";

	@Test
	void startTellsOfEveryRouteThatMayMatch(CapturedOutput output) {
		TestApplication
			.start(Application.class, "spring.mvc.servlet.path=/app", "ratelimit.policies.whole" + LIMITS,
					"ratelimit.policies.whole.paths=/app/api/**", "ratelimit.policies.rest" + LIMITS,
					"ratelimit.policies.rest.paths=/api/**", "ratelimit.policies.same" + LIMITS,
					"ratelimit.policies.same.paths=GET /api/{id:[0-9]+}", "ratelimit.policies.one" + LIMITS,
					"ratelimit.policies.one.paths=/app/api/7", "ratelimit.policies.part" + LIMITS,
					"ratelimit.policies.part.paths=/app/**", "ratelimit.policies.part.exclude=/app/api/8",
					"ratelimit.policies.post" + LIMITS, "ratelimit.policies.post.paths=POST /app/api/**",
					"ratelimit.policies.other" + LIMITS, "ratelimit.policies.other.paths=/web/api/**",
					"ratelimit.policies.excluded" + LIMITS, "ratelimit.policies.excluded.paths=/app/**",
					"ratelimit.policies.excluded.exclude=/app/api/*", "ratelimit.policies.half" + LIMITS,
					"ratelimit.policies.half.paths=/app/first,/app/second",
					"ratelimit.policies.half.exclude=/app/first", "ratelimit.policies.none" + LIMITS,
					"ratelimit.policies.none.paths=/app/**", "ratelimit.policies.none.exclude=/app/first,/app/second")
			.close();
		assertThat(output).contains("These policies may count a request by its path, and again by @RateLimited: "
				+ "[half (CountedTwiceIT.Application.both), one (CountedTwiceIT.Application.get), part (CountedTwiceIT.Application.get), "
				+ "rest (CountedTwiceIT.Application.get), same (CountedTwiceIT.Application.get), "
				+ "whole (CountedTwiceIT.Application.get)]");
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping("/api/{id:[0-9]+}")
		@RateLimited("whole")
		@RateLimited("rest")
		@RateLimited("same")
		@RateLimited("one")
		@RateLimited("part")
		@RateLimited("post")
		@RateLimited("other")
		@RateLimited("excluded")
		String get() {
			return "served";
		}

		@GetMapping({ "/first", "/second" })
		@RateLimited("half")
		@RateLimited("none")
		String both() {
			return "served";
		}

	}

}
