package io.github.ratelimit.spring.method;

import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import io.github.ratelimit.spring.PackagePrivate;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.ConnectableFlux;
import reactor.core.publisher.Flux;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.PriorityOrdered;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.Async;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Annotations that cannot be enforced stop the start: what is declared, and what the
 * message says.
 */
@SpringJUnitConfig(StarterRunners.InMemory.class)
@TestPropertySource(properties = { "ratelimit.defaults.identifiers=global", "ratelimit.policies.api.limits=10/s",
		"ratelimit.policies.web.limits=5/s", "ratelimit.policies.web.identifiers=user",
		"ratelimit.policies.web.penalty.after=9", "ratelimit.policies.web.penalty.within=1m",
		"ratelimit.policies.web.penalty.block=1h", "ratelimit.policies.one.concurrent=1" })
class RateLimitedRefusalTests {

	private static final String NAME = RateLimitedRefusalTests.class.getName();

	private final ApplicationContextRunner runner = StarterRunners.inMemory()
		.withPropertyValues("ratelimit.policies.api.limits=10/s");

	@Autowired
	private RateLimitedAdvisor advisor;

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					unknownPolicy     | there is no policy 'nothing' below ratelimit.policies, only [api, one, web].
					wrongLimit        | Invalid limit (ten/s): must be quota/window, such as 10/s, 100/15m or 10/500ms; the units are ms, s, m, h and d.
					nothing           | it must name a policy or have limits.
					both              | Invalid limits [1/s, 2/m]: the policy 'api' is from the configuration; remove the limits, or the policy.
					renamed           | Invalid name (foo): the policy 'api' is from the configuration; remove the name, or the policy.
					otherAlgorithm    | Invalid algorithm (fixed-window): the policy 'api' is from the configuration; remove the algorithm, or the policy.
					nameOfPolicy      | its policy would be named 'api', a name that ratelimit.policies already uses; give one of them another name.
					policyTwice       | the policy 'api' is used twice.
					composedTwice     | the policy 'web' is used twice.
					nameless          | several of its annotations have limits and no name; give all but one of them a name.
					tooExpensive      | Invalid cost (11): the limit 10/s would never allow it.
					negative          | Invalid cost (-1): must not be negative.
					twoCosts          | Invalid cost (2): cannot be combined with a costExpression.
					unknownIdentifier | Invalid identifier (ip): must be global or user outside of web requests.
					unknownPart       | Invalid identifier (nobody): must be global or user outside of web requests.
					penaltyOfAll      | Invalid identifier (global): the penalty would block all clients at once; use identifiers that tell clients apart, such as ip or user.
					twice             | Invalid identifiers [global, global]: there must be at least one, and no duplicates.
					unknownVariable   | Invalid costExpression (#row): #row is not allowed; it may only read properties and methods of the parameters #a0, #p0, #rows of public abstract void $Wrong.unknownVariable(int).
					noFallback        | Invalid fallbackMethod (gone): there must be a method 'java.lang.String gone(int)' or 'java.lang.String gone(int, RateLimitExceededException)' in $Wrong, but there is none of that name.
					itself            | Invalid fallbackMethod (itself): there must be a method 'java.lang.String itself(int)' or 'java.lang.String itself(int, RateLimitExceededException)' in $Wrong, but there is none of that name.
					otherParameter    | Invalid fallbackMethod (ofLong): there must be a method 'java.lang.String ofLong(int)' or 'java.lang.String ofLong(int, RateLimitExceededException)' in $Wrong, but there is only public abstract java.lang.String $Wrong.ofLong(long).
					otherType         | Invalid fallbackMethod (toInt): there must be a method 'java.lang.String toInt(int)' or 'java.lang.String toInt(int, RateLimitExceededException)' in $Wrong, but there is only public abstract int $Wrong.toInt(int).
					otherException    | Invalid fallbackMethod (ofIo): there must be a method 'java.lang.String ofIo(int)' or 'java.lang.String ofIo(int, RateLimitExceededException)' in $Wrong, but there is only public abstract java.lang.String $Wrong.ofIo(int,java.io.IOException).
					moreParameters    | Invalid fallbackMethod (more): there must be a method 'java.lang.String more(int)' or 'java.lang.String more(int, RateLimitExceededException)' in $Wrong, but there is only public abstract java.lang.String $Wrong.more(int,int,io.github.ratelimit.spring.RateLimitExceededException).
					twoFallbacks      | Invalid fallbackMethod [ofLong, toInt]: there must be one for all annotations of the method.
					ownFuture         | Invalid result ($OwnFuture): must be declared as java.util.concurrent.CompletionStage.
					connectable       | Invalid result (reactor.core.publisher.ConnectableFlux): must be declared as reactor.core.publisher.Flux.
					""")
	void annotationOfMethodIsRefused(String method, String reason) {
		assertRefused(method, reason.replace("$", NAME + '$'));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			deferred   | org.springframework.web.context.request.async.DeferredResult<java.lang.String>
			later      | java.util.concurrent.Callable<java.lang.String>
			emitting   | org.springframework.web.servlet.mvc.method.annotation.SseEmitter
			waiting    | java.util.concurrent.Future<java.lang.String>
			streaming  | org.springframework.http.ResponseEntity<$StreamingResponseBody>
			publishing | org.springframework.http.ResponseEntity<reactor.core.publisher.Flux<java.lang.String>>
			anything   | org.springframework.http.ResponseEntity<?>
			background | @Async void
			""")
	void annotationIsRefusedWhenEndOfCallIsUnknown(String method, String result) {
		assertRefused(method,
				"Invalid result (%s): it is not known when such a call ends, so that concurrent calls cannot be limited; limit its path instead, or return a CompletableFuture, Mono or Flux."
					.formatted(result.replace("$", "org.springframework.web.servlet.mvc.method.annotation.")));
	}

	private void assertRefused(String name, String reason) {
		Method method = Arrays.stream(Wrong.class.getDeclaredMethods())
			.filter((each) -> each.getName().equals(name))
			.findFirst()
			.orElseThrow();
		assertThatExceptionOfType(InvalidRateLimitedException.class)
			.isThrownBy(() -> this.advisor.limited(method, Wrong.class))
			.withMessage("Invalid @RateLimited on %s: %s", method.toGenericString(), reason);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					Private            | private void $Private.call() | calls of private, static and final methods cannot be intercepted; make the method non-private, or annotate a method that other beans call.
					Static             | public static void $Static.call() | calls of private, static and final methods cannot be intercepted; make the method non-static, or annotate a method that other beans call.
					Final              | public final void $Final.call() | calls of private, static and final methods cannot be intercepted; make the method non-final, or annotate a method that other beans call.
					FinalInType        | final void $FinalInType.call() | calls of private, static and final methods cannot be intercepted; make the method non-final, or annotate a method that other beans call.
					FinalBelowType     | public final void $FinalBelowType.below() | calls of private, static and final methods cannot be intercepted; make the method non-final, or annotate a method that other beans call.
					FinalClass         | public void $FinalClass.call() | the class is final, so its calls cannot be intercepted; make the class neither final nor sealed, or implement an interface and set spring.aop.proxy-target-class=false.
					SealedClass        | public void $SealedClass.call() | the class is sealed, so its calls cannot be intercepted; make the class neither final nor sealed, or implement an interface and set spring.aop.proxy-target-class=false.
					Elsewhere          | void io.github.ratelimit.spring.PackagePrivate.hidden() | void io.github.ratelimit.spring.PackagePrivate.hidden() is not visible to the proxy of $Elsewhere, so its calls cannot be intercepted; make the method protected or public.
					Processor          | public void $Processor.call() | its bean 'bean' is created before calls can be intercepted, because it is a post-processor of beans or their factory; move the method to another bean.
					Interceptor        | public void $Interceptor.call() | calls of beans that intercept other beans cannot be intercepted; move the method to another bean.
					LimitlessAdvice    | $LimitlessAdvice | on a class it limits handlers, or what other beans call, and there is neither; annotate the methods to limit.
					LimitlessFactory   | $LimitlessFactory | on a class it limits handlers, or what other beans call, and there is neither; annotate the methods to limit.
					FallbackOnType     | $FallbackOnType | Invalid fallbackMethod (instead): must be on a method, not on a type.
					ExpressionOnType   | $ExpressionOnType | Invalid identifiers (#id): #id is not allowed; it may only read properties and methods of parameters, but public void $ExpressionOnType.call() has none.
					Torn               | public abstract void $One.call() | there is another on public abstract void $Other.call(), and neither is nearer to the class that inherits both; annotate that class or its method instead.
					""")
	void startFails(String type, String place, String reason) throws Exception {
		Class<?> declared = Class.forName(NAME + '$' + type);
		String name = NAME + '$';
		this.runner.withBean("bean", declared)
			.run((context) -> assertThat(StartFailure.cause(context, InvalidRateLimitedException.class))
				.hasMessage("Invalid @RateLimited on %s: %s", place.replace("$", name), reason.replace("$", name)));
	}

	@Test
	void startFailsWhenOverloadsWouldShareName() {
		this.runner.withBean(Overloads.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.message()
				.startsWith("its policy would be named 'Overloads.call', a name that public void " + NAME
						+ "$Overloads.call(")
				.endsWith(" already uses; give one of them another name."));
	}

	@Test
	void startFailsWhenClassesOfOneNameInheritMethod() {
		this.runner.withBean("one", HeirOne.Heir.class)
			.withBean("other", HeirTwo.Heir.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage("its policy would be named 'Heir.call', a name that public void " + NAME
						+ "$Base.call() in " + NAME + "$HeirOne$Heir already uses; give one of them another name."));
	}

	@Test
	void startFailsWhenOnlyLaterMethodOfInterfaceIsWrong() {
		this.runner.withBean(Service.class, ServiceImplementation::new)
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage("there is no policy 'nothing' below ratelimit.policies, only [api]."));
	}

	@Retention(RetentionPolicy.RUNTIME)
	@RateLimited("web")
	@interface Web {

	}

	interface Wrong {

		@RateLimited("nothing")
		void unknownPolicy();

		@RateLimited(limits = { "1/s", "ten/s" })
		void wrongLimit();

		@RateLimited
		void nothing();

		@RateLimited(policy = "api", limits = { "1/s", "2/m" }, name = "both")
		void both();

		@RateLimited(policy = "api", name = "foo")
		void renamed();

		@RateLimited(policy = "api", algorithm = "fixed-window")
		void otherAlgorithm();

		@RateLimited(name = "api", limits = "1/s")
		void nameOfPolicy();

		@RateLimited("api")
		@RateLimited(policy = "api", cost = 2)
		void policyTwice();

		@Web
		@RateLimited("web")
		void composedTwice();

		@RateLimited(limits = "1/s")
		@RateLimited(limits = "2/m")
		void nameless();

		@RateLimited(policy = "api", cost = 11)
		void tooExpensive();

		@RateLimited(policy = "api", cost = -1)
		void negative();

		@RateLimited(policy = "api", cost = 2, costExpression = "7")
		void twoCosts();

		@RateLimited(policy = "api", identifiers = "ip")
		void unknownIdentifier();

		@RateLimited(policy = "api", identifiers = "nobody+#a0")
		void unknownPart(int id);

		@RateLimited(policy = "web", identifiers = { "user", "global" })
		void penaltyOfAll();

		@RateLimited(policy = "api", identifiers = { "global", "global" })
		void twice();

		@RateLimited(policy = "api", costExpression = "#row")
		void unknownVariable(int rows);

		@RateLimited(policy = "api", fallbackMethod = "gone")
		String noFallback(int number);

		@RateLimited(policy = "api", fallbackMethod = "itself")
		String itself(int number);

		@RateLimited(policy = "api", fallbackMethod = "ofLong")
		String otherParameter(int number);

		String ofLong(long number);

		@RateLimited(policy = "api", fallbackMethod = "toInt")
		String otherType(int number);

		int toInt(int number);

		@RateLimited(policy = "api", fallbackMethod = "ofIo")
		String otherException(int number);

		String ofIo(int number, IOException ex);

		@RateLimited(policy = "api", fallbackMethod = "more")
		String moreParameters(int number);

		String more(int number, int other, RateLimitExceededException ex);

		@RateLimited(policy = "api", fallbackMethod = "ofLong")
		@RateLimited(limits = "1/s", fallbackMethod = "toInt")
		String twoFallbacks(int number);

		@RateLimited("api")
		OwnFuture ownFuture();

		@RateLimited("api")
		ConnectableFlux<String> connectable();

		@RateLimited("one")
		DeferredResult<String> deferred();

		@RateLimited("one")
		Callable<String> later();

		@RateLimited("one")
		SseEmitter emitting();

		@RateLimited("one")
		Future<String> waiting();

		@RateLimited("one")
		ResponseEntity<StreamingResponseBody> streaming();

		@RateLimited("one")
		ResponseEntity<Flux<String>> publishing();

		@RateLimited("one")
		ResponseEntity<?> anything();

		@Async
		@RateLimited("one")
		void background();

	}

	static class OwnFuture extends CompletableFuture<String> {

	}

	static class Private {

		@RateLimited("api")
		private void call() {
		}

	}

	static class Static {

		@RateLimited("api")
		public static void call() {
		}

	}

	static class Final {

		@RateLimited("api")
		public final void call() {
		}

	}

	@RateLimited("api")
	static class FinalInType {

		final void call() {
		}

	}

	@RateLimited("api")
	static class OpenType {

		public void call() {
		}

	}

	static class FinalBelowType extends OpenType {

		public final void below() {
		}

	}

	static final class FinalClass {

		@RateLimited("api")
		public void call() {
		}

	}

	static sealed class SealedClass permits OnlyHeir {

		@RateLimited("api")
		public void call() {
		}

	}

	static final class OnlyHeir extends SealedClass {

	}

	static class Elsewhere extends PackagePrivate {

	}

	static class Processor implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

		@RateLimited("api")
		public void call() {
		}

	}

	static class Interceptor implements MethodInterceptor {

		@Override
		public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
			return invocation.proceed();
		}

		@RateLimited("api")
		public void call() {
		}

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

	@RateLimited(policy = "api", fallbackMethod = "instead")
	static class FallbackOnType {

		public void call() {
		}

	}

	@RateLimited(policy = "api", identifiers = "#id")
	static class ExpressionOnType {

		public void call() {
		}

	}

	interface One {

		@RateLimited("api")
		void call();

	}

	interface Other {

		@RateLimited("api")
		void call();

	}

	static class Torn implements One, Other {

		@Override
		public void call() {
		}

	}

	static class Overloads {

		@RateLimited(limits = "1/s")
		public void call(int number) {
		}

		@RateLimited(limits = "1/s")
		public void call(String text) {
		}

	}

	static class Base {

		@RateLimited(limits = "1/s")
		public void call() {
		}

	}

	static class HeirOne {

		static class Heir extends Base {

		}

	}

	static class HeirTwo {

		static class Heir extends Base {

		}

	}

	interface Service {

		@RateLimited("api")
		void first();

		void second();

	}

	static class ServiceImplementation implements Service {

		@Override
		public void first() {
		}

		@Override
		@RateLimited("nothing")
		public void second() {
		}

	}

}
