package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;

import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.ui.Model;
import org.springframework.web.bind.WebDataBinder;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Annotated controllers: a request costs once, whatever else Spring MVC calls for it.
 */
@StartApplication("orders.limit: 1/m")
class AnnotatedControllerIT {

	@Parameter
	TestApplication application;

	@Test
	void onlyHandlersAreLimitedByAnnotationOfController() {
		for (int i = 0; i < 6; i++) {
			HttpResponse<String> allowed = this.application.get("/own?name=a");
			assertThat(allowed.statusCode()).isEqualTo(200);
			assertThat(allowed.body()).isEqualTo("a of shop");
		}
		HttpResponse<String> denied = this.application.get("/own?name=a");
		assertThat(denied.statusCode()).isEqualTo(402);
		assertThat(denied.body()).isEqualTo("pay");
		assertThat(this.application.decisions()).isEqualTo(7);
	}

	@Test
	void argumentsIdentifyTogetherWithRequest() {
		assertThat(this.application.statuses(2, "/order?customer=anna")).containsExactly(200, 429);
		assertThat(this.application.get("/order?customer=bert").statusCode()).isEqualTo(200);
		HttpResponse<String> unnamed = this.application.get("/order");
		assertThat(unnamed.statusCode()).isEqualTo(200);
		assertThat(unnamed.headers().firstValue("RateLimit")).hasValue("\"Orders.order\";r=0;t=60");
		assertThat(this.application.get("/order?customer=").statusCode()).isEqualTo(429);
	}

	@OpenApplication
	@Import({ Own.class, Orders.class })
	static class Application {

	}

	/** What Spring MVC calls beside a handler. */
	abstract static class Shop {

		@InitBinder
		public void bind(WebDataBinder binder) {
			binder.setDisallowedFields("none");
		}

		@ModelAttribute("shop")
		public String shop() {
			return "shop";
		}

		@ExceptionHandler(RateLimitExceededException.class)
		@ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
		public String pay() {
			return "pay";
		}

	}

	@RestController
	@RateLimited(limits = "6/m")
	static class Own extends Shop {

		@GetMapping("/own")
		public String get(@RequestParam("name") String name, Model model) {
			return name + " of " + model.getAttribute("shop");
		}

	}

	@RestController
	static class Orders {

		@GetMapping("/order")
		@RateLimited(limits = "${orders.limit}", identifiers = "ip+#customer")
		public String order(@RequestParam(required = false) String customer) {
			return "ordered";
		}

	}

}
