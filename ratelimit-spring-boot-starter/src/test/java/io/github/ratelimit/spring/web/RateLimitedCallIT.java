package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;

import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Annotated methods of controllers, called by real requests and counted on a real Redis.
 */
@StartApplication("orders.limit: 2/m")
class RateLimitedCallIT {

	@Parameter
	TestApplication application;

	@Test
	void argumentsIdentifyTogetherWithRequest() {
		assertStatuses("/order?customer=anna", 200, 200, 429);
		assertStatuses("/order?customer=bert", 200);
		assertThat(this.application.get("/order?customer=anna").headers().firstValue("RateLimit"))
			.hasValue("\"OrderController.order\";r=0;t=60");
	}

	@Test
	void requestWithoutValueIsCountedByItsAddress() {
		assertStatuses("/order", 200, 200, 429);
		assertStatuses("/order?customer=", 429);
		assertStatuses("/order?customer=anna", 200);
	}

	@Test
	void costIsWhatExpressionYields() {
		assertStatuses("/export?rows=8999", 200);
		HttpResponse<String> denied = this.application.get("/export?rows=1000");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("60");
		assertStatuses("/export?rows=999", 200);
	}

	@Test
	void requestThatCostsMoreThanQuotaIsNeverAllowed() {
		for (String rows : new String[] { "10000", Long.toString(Long.MAX_VALUE - 1), Long.toString(Long.MAX_VALUE) }) {
			HttpResponse<String> denied = this.application.get("/price?rows=" + rows);
			assertThat(denied.statusCode()).isEqualTo(429);
			assertThat(denied.headers().firstValue("Retry-After")).isEmpty();
		}
		assertStatuses("/price?rows=10", 200, 429);
	}

	@Test
	void requestIsRejectedWhenItsCostIsNegative() {
		assertStatuses("/price?rows=-1", 400);
		assertThat(this.application.decisions()).isZero();
	}

	@Test
	void annotationsAreDecidedTogetherAllOrNothing() {
		assertStatuses("/both?who=a", 200, 429, 429);
		assertStatuses("/both?who=b", 200);
		assertStatuses("/both?who=c", 200);
		assertStatuses("/both?who=d", 429);
		assertThat(this.application.decisions()).isEqualTo(6);
		assertThat(this.application.get("/both?who=d").headers().firstValue("RateLimit"))
			.hasValue("\"OrderController.both\";r=1;t=0, \"total\";r=0;t=60");
	}

	@Test
	void fallbackAnswersInsteadOf429() {
		assertThat(this.application.get("/search?q=redis").body()).isEqualTo("found redis");
		HttpResponse<String> denied = this.application.get("/search?q=redis");
		assertThat(denied.statusCode()).isEqualTo(200);
		assertThat(denied.body()).isEqualTo("cached redis: Rate limit exceeded: OrderController.search (1/m)");
	}

	private void assertStatuses(String path, int... statuses) {
		for (int status : statuses) {
			assertThat(this.application.get(path).statusCode()).isEqualTo(status);
		}
	}

	@OpenApplication
	@Import(OrderController.class)
	static class Application {

	}

	@RestController
	static class OrderController {

		@GetMapping("/order")
		@RateLimited(limits = "${orders.limit}", identifiers = "ip+#customer")
		String order(@RequestParam(required = false) String customer) {
			return "ordered";
		}

		@GetMapping("/export")
		@RateLimited(limits = "10/m", costExpression = "#rows / 1000 + 1")
		String export(@RequestParam int rows) {
			return "exported";
		}

		@GetMapping("/price")
		@RateLimited(limits = "10/m", costExpression = "#rows")
		String price(@RequestParam long rows) {
			return "paid";
		}

		@GetMapping("/both")
		@RateLimited(limits = "1/m", identifiers = "#who")
		@RateLimited(name = "total", limits = "3/m", identifiers = "global")
		String both(@RequestParam String who) {
			return "served";
		}

		@GetMapping("/search")
		@RateLimited(limits = "1/m", fallbackMethod = "cached")
		String search(@RequestParam String q) {
			return "found " + q;
		}

		private String cached(String q, RateLimitExceededException ex) {
			return "cached " + q + ": " + ex.getMessage();
		}

	}

}
