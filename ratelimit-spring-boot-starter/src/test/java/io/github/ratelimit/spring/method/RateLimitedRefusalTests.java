package io.github.ratelimit.spring.method;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.regex.Matcher;

import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.ConnectableFlux;
import reactor.core.publisher.Flux;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.Async;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Annotations that cannot be enforced: what is declared, and what the message says.
 */
@SpringJUnitConfig(StarterRunners.InMemory.class)
@TestPropertySource(properties = { "ratelimit.defaults.identifiers=global", "ratelimit.policies.api.limits=10/s",
		"ratelimit.policies.web.limits=5/s", "ratelimit.policies.web.identifiers=user",
		"ratelimit.policies.web.penalty.after=9", "ratelimit.policies.web.penalty.within=1m",
		"ratelimit.policies.web.penalty.block=1h", "ratelimit.policies.one.concurrent=1" })
class RateLimitedRefusalTests {

	private static final String NAME = RateLimitedRefusalTests.class.getName();

	@Autowired
	private RateLimitedAdvisor advisor;

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					unknownPolicy     | there is no policy 'nothing' below ratelimit.policies, only [api, one, web].
					wrongLimit        | Invalid limit (ten/s): must be quota/window, such as 10/s, 100/15m or 100/month; the units are ms, s, m, h, d, week, month and year.
					month             | Invalid limit (5/month): sliding-window has no calendar windows, only fixed-window does; use that, or a number of days such as 30d.
					nothing           | it must name a policy or have limits.
					both              | Invalid limits [1/s, 2/m]: the policy 'api' is from the configuration; remove the limits, or the policy.
					renamed           | Invalid name (foo): the policy 'api' is from the configuration; remove the name, or the policy.
					otherAlgorithm    | Invalid algorithm (fixed-window): the policy 'api' is from the configuration; remove the algorithm, or the policy.
					nameOfPolicy      | its policy would be named 'api', a name that ratelimit.policies already uses; give one of them another name.
					policyTwice       | the policy 'api' is used twice.
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
		assertRefused(method, reason);
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
		assertRefused(() -> this.advisor.limited(method, Wrong.class), method.toGenericString(), reason);
	}

	private static void assertRefused(ThrowingCallable reading, String place, String reason) {
		assertThatExceptionOfType(InvalidRateLimitedException.class).isThrownBy(reading)
			.withMessage("Invalid @RateLimited on %s: %s", place,
					reason.replaceAll("\\B\\$", Matcher.quoteReplacement(NAME + '$')));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					FallbackOnType     | $FallbackOnType | Invalid fallbackMethod (instead): must be on a method, not on a type.
					ExpressionOnType   | $ExpressionOnType | Invalid identifiers (#id): #id is not allowed; it may only read properties and methods of parameters, but public void $ExpressionOnType.call() has none.
					Torn               | public abstract void $One.call() | there is another on public abstract void $Other.call(), and neither is nearer to the class that inherits both; annotate that class or its method instead.
					""")
	void annotationOfTypeIsRefused(String type, String place, String reason) throws Exception {
		Class<?> declared = Class.forName(NAME + '$' + type);
		assertRefused(() -> this.advisor.limited(declared), place.replace("$", NAME + '$'), reason);
	}

	@Test
	void classesOfOneNameCannotInheritMethodWithoutName() {
		assertThat(this.advisor.limited(HeirOne.Heir.class)).hasSize(1);
		assertRefused(() -> this.advisor.limited(HeirTwo.Heir.class),
				"public void " + NAME + "$Base.call() in " + NAME + "$HeirTwo$Heir",
				"its policy would be named 'Heir.call', a name that public void $Base.call() in $HeirOne$Heir already uses; give one of them another name.");
	}

	interface Wrong {

		@RateLimited("nothing")
		void unknownPolicy();

		@RateLimited(limits = { "1/s", "ten/s" })
		void wrongLimit();

		@RateLimited(limits = "5/month")
		void month();

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

}
