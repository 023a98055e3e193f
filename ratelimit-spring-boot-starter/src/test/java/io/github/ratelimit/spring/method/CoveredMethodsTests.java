package io.github.ratelimit.spring.method;

import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.servlet.FilterChain;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.graphql.data.federation.EntityMapping;
import org.springframework.graphql.data.method.annotation.BatchMapping;
import org.springframework.graphql.data.method.annotation.GraphQlExceptionHandler;
import org.springframework.graphql.data.method.annotation.QueryMapping;
import org.springframework.messaging.handler.annotation.MessageExceptionHandler;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.messaging.simp.annotation.SubscribeMapping;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Controller;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.context.support.WebApplicationObjectSupport;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.service.annotation.GetExchange;

import static io.github.ratelimit.spring.method.LimitedBeans.assertLimited;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link CoveredMethods}: which methods the annotation of a class limits.
 */
class CoveredMethodsTests {

	private final ApplicationContextRunner runner = StarterRunners.inMemory()
		.withPropertyValues("ratelimit.policies.api.limits=1/m");

	@ParameterizedTest
	@MethodSource("types")
	void annotationOfClassLimitsWhatOthersCall(Class<?> type, List<String> limited) {
		this.runner.run((context) -> assertThat(context.getBean(RateLimitedAdvisor.class).limited(type))
			.extracting((each) -> each.method().getName())
			.containsExactlyInAnyOrderElementsOf(limited));
	}

	static Stream<Arguments> types() {
		return Stream.of(Arguments.of(WebController.class, List.of("get", "exchange", "form")),
				Arguments.of(OtherController.class, List.of("message", "subscription", "query", "batch", "entity")),
				Arguments.of(Lifelong.class, List.of("work", "event", "scheduled")),
				Arguments.of(Advice.class, List.of("explicit")));
	}

	@ParameterizedTest
	@ValueSource(classes = { LimitlessAdvice.class, LimitlessFactory.class })
	void annotationOfClassIsRefusedWhenOthersCallNothing(Class<?> type) {
		this.runner.run((context) -> assertThatExceptionOfType(InvalidRateLimitedException.class)
			.isThrownBy(() -> context.getBean(RateLimitedAdvisor.class).limited(type))
			.withMessage(
					"Invalid @RateLimited on %s: on a class it limits handlers, or what other beans call, and there is neither; annotate the methods to limit.",
					type.getName()));
	}

	@ParameterizedTest
	@ValueSource(classes = { LimitedFilter.class, WhollyLimitedFilter.class })
	void startFailsWhenProxyWouldRunInheritedFinalMethod(Class<?> type) {
		this.runner.withBean(type)
			.run((context) -> assertThat(StartFailure.cause(context, InvalidRateLimitedException.class))
				.hasMessageStartingWith("Invalid @RateLimited on ")
				.hasMessageEndingWith(
						"is final, so that the proxy runs it itself, without the fields of the bean; move the method to another bean."));
	}

	@Test
	void otherFinalMethodsMayBeInherited() {
		LimitedBeans.run(this.runner, Named.class, (bean) -> {
			assertThat(bean.name()).isEqualTo("named");
			assertLimited(bean::call);
		});
		LimitedBeans.run(this.runner, Supported.class, (bean) -> assertLimited(bean::call));
	}

	/** Its base class has final methods. */
	@RateLimited("api")
	static class Supported extends WebApplicationObjectSupport {

		public void call() {
		}

	}

	@Controller
	@RateLimited("api")
	abstract static class WebController {

		@GetMapping("/get")
		public abstract void get();

		@GetExchange("/exchange")
		public abstract void exchange();

		@PostMapping("/form")
		@ModelAttribute("form")
		public abstract String form();

		@ModelAttribute("model")
		public abstract String model();

		@InitBinder
		public abstract void bind();

		@ExceptionHandler(IllegalStateException.class)
		public abstract void handle();

		@PostConstruct
		public final void prepare() {
		}

		@EventListener(String.class)
		public abstract void event();

		public abstract String getName();

	}

	@Controller
	@RateLimited("api")
	interface OtherController {

		@QueryMapping
		String query();

		@BatchMapping(typeName = "Query")
		List<String> batch(List<String> keys);

		@EntityMapping
		String entity();

		@GraphQlExceptionHandler
		void handleOfGraphQl(IllegalStateException ex);

		@MessageMapping("/message")
		void message();

		@SubscribeMapping("/subscription")
		void subscription();

		@MessageExceptionHandler
		void handle(IllegalStateException ex);

	}

	@Service
	@RateLimited("api")
	abstract static class Lifelong
			implements InitializingBean, DisposableBean, BeanNameAware, SmartInitializingSingleton, SmartLifecycle {

		public abstract void work();

		@EventListener(String.class)
		public abstract void event();

		@Scheduled(fixedRate = 1000)
		public abstract void scheduled();

		@PostConstruct
		public abstract void prepare();

		@PreDestroy
		public abstract void end();

		@Override
		public abstract void destroy();

		@Override
		public abstract String toString();

		static void fixed() {
		}

	}

	@ControllerAdvice
	@RateLimited("api")
	interface Advice {

		@ExceptionHandler(IllegalStateException.class)
		void handle();

		@ExceptionHandler(IllegalArgumentException.class)
		@RateLimited("api")
		void explicit();

	}

	@ControllerAdvice
	@RateLimited("api")
	static class LimitlessAdvice {

		@ExceptionHandler(IllegalStateException.class)
		public void handle() {
		}

	}

	@Configuration
	@RateLimited("api")
	static class LimitlessFactory {

		@Bean
		String one() {
			return "1";
		}

	}

	static class LimitedFilter extends OncePerRequestFilter {

		@Override
		@RateLimited("api")
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain) {
		}

	}

	@RateLimited("api")
	static class WhollyLimitedFilter extends OncePerRequestFilter {

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain) {
		}

	}

	interface Name {

		String name();

	}

	abstract static class FixedName implements Name {

		@Override
		public final String name() {
			return "named";
		}

	}

	static class Named extends FixedName {

		@RateLimited("api")
		public void call() {
		}

	}

}
