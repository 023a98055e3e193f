package io.github.ratelimit.spring.config;

import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.client.ClientHttpRequestInterceptor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the log says of the policies once an application is ready.
 */
@ExtendWith(OutputCaptureExtension.class)
class PolicyTableTests {

	@Test
	void everyPolicyIsARow(CapturedOutput output) {
		start("user.limits=10/m", "user.routes[0].paths=GET /user", "user.routes[1].paths=POST /user",
				"user.routes[1].cost=2", "user.mode=shadow", "user.on-store-failure=deny", "api.limits=120/m,10/s",
				"api.paths=/api/**", "api.identifiers=ip,user", "api.plans.pro.limits=100/s",
				"api.plans.partner.unlimited=true", "day.limits=5/d", "day.algorithm=fixed-window",
				"day.zone=Europe/Paris", "day.count-denied=true", "unused.limits=1/m", "off.limits=1/m",
				"off.enabled=false", "off.mode=shadow", "unused.algorithm=leaky-bucket");
		assertThat(lines(output, 8)).containsExactly(
				table("""
						  policy           algorithm       limits       identifiers  mode     on-store-failure  plans  count-denied  enabled  applies to
						  Limited.inPlace  sliding-window  1/s          ip           enforce  local             -      -             -        @Limited.inPlace
						  api              sliding-window  10/s, 120/m  ip, user     enforce  local             partner: { unlimited: true }, pro: { limits: 100/s }  -  -  /api/**
						  day              fixed-window, zone: Europe/Paris  5/d  ip    enforce  local  -  true  -  @Limited.day, @Limited.today
						  day              fixed-window, zone: Europe/Paris  5/d  user  enforce  local  -  true  -  @Limited.dayOfUser
						  off              sliding-window  1/m          ip           shadow   local             -      -             false    nothing yet
						  unused           leaky-bucket    1/m          ip           enforce  local             -      -             -        nothing yet
						  user             sliding-window  10/m         ip           shadow   deny              -      -             -        GET /user, POST /user (cost 2)
						"""));
		assertThat(output)
			.contains("Rate limits: these policies are enforced while the store answers, except in shadow mode, which "
					+ "only reports: user, except with enabled: false, which limits nothing: off")
			.contains("These policies limit nothing yet, because they have no paths, no @RateLimited names them, and "
					+ "no bean has a PolicyLimiter or OutgoingRateLimits: [unused]");
	}

	@Test
	void resetsThatAnybodyCouldCauseAreTold(CapturedOutput output) {
		start(WithReset.class, "day.limits=1/d", "login.limits=5/m", "login.identifiers=ip,ip+user,ip+path",
				"login.reset-when=status in [200]", "login.reset=ip,ip+user,ip+path");
		assertThat(output.toString().lines().filter((line) -> line.contains("between two guesses"))).hasSize(2)
			.allMatch((line) -> line.contains("'login'"))
			.noneMatch((line) -> line.contains("'ip+user'"));
	}

	@ParameterizedTest
	@ValueSource(classes = { PolicyLimiter.class, OutgoingRateLimits.class })
	void codeMayUsePoliciesWithoutPaths(Class<?> use, CapturedOutput output) {
		StarterRunners.application((use == PolicyLimiter.class) ? WithLimiter.class : WithOutgoing.class)
			.run("--ratelimit.policies.mail.limits=1/s", "--ratelimit.policies.day.limits=1/d")
			.close();
		assertThat(output.toString().lines().filter((line) -> line.startsWith("  mail"))).singleElement()
			.asString()
			.endsWith("  calls of " + use.getSimpleName());
		assertThat(output).doesNotContain("limit nothing yet");
	}

	/** The paths are in the order in which they are matched. */
	@Test
	void optionsAreShownThatAreSet(CapturedOutput output) {
		start("login.limits=5/m", "login.count-when=status in [401, 4xx]", "login.algorithm=sliding-window",
				"login.precision=10s", "tail.limits=5/m", "tail.missing-identifier=deny", "tail.identifiers=user",
				"tokens.identifiers=user", "tail.algorithm=sliding-tail", "tail.rounding=down", "tokens.limits=5/m",
				"tokens.missing-identifier=global", "tokens.algorithm=token-bucket", "tokens.burst=9", "day.limits=5/d",
				"day.missing-identifier=skip", "day.paths=/a/**,/", "day.routes[0].paths=POST /z/import,GET /z",
				"day.routes[0].cost=5", "day.routes[1].paths=/b");
		assertThat(lines(output, 7)).containsExactly(
				table("""
						  policy           algorithm                       limits  identifiers  mode     on-store-failure  missing-identifier  count-when            applies to
						  Limited.inPlace  sliding-window                  1/s     ip           enforce  local             -                   -                     @Limited.inPlace
						  day              sliding-window                  5/d     ip           enforce  local             skip                -                     POST /z/import (cost 5), GET /z (cost 5), /b, /a/**, /, @Limited.day, @Limited.today
						  day              sliding-window                  5/d     user         enforce  local             skip                -                     @Limited.dayOfUser
						  login            sliding-window, precision: 10s  5/m   ip           enforce  local             -                   status in [401, 4xx]  nothing yet
						  tail             sliding-window-counter, rounding: down  5/m  user  enforce  local  deny  -  nothing yet
						  tokens           token-bucket, burst: 9          5/m     user         enforce  local             global              -                     nothing yet
						"""));
	}

	@Test
	void exclusionsAndConditionsAreShown(CapturedOutput output) {
		start("ratelimit.exclude=/api/health", "day.limits=5/d", "api.limits=5/m", "api.paths=/api/**",
				"api.exclude=/api/open/**,GET /api/logo", "api.when=#request.secure",
				"api.unless=#request.asyncStarted", "ratelimit.defaults.identifiers=user",
				"ratelimit.defaults.mode=shadow");
		assertThat(lines(output, 1)).singleElement().asString().contains("exclude", "when", "unless");
		assertThat(output)
			.contains("Rate limits: these policies are enforced while the store answers, except on the paths "
					+ "/api/health, except in shadow mode, which only reports: Limited.inPlace, api, day")
			.contains("/api/open/**, GET /api/logo  #request.secure  #request.asyncStarted  /api/**");
	}

	/** Returns the first lines of the table. */
	private static List<String> lines(CapturedOutput output, int most) {
		return output.toString()
			.lines()
			.dropWhile((line) -> !line.contains("Rate limits: "))
			.skip(1)
			.limit(most)
			.toList();
	}

	/** The rows of a table whose columns are as wide as they must be. */
	private static String[] table(String text) {
		List<String[]> rows = text.lines().map((line) -> line.strip().split(" {2,}")).toList();
		return rows.stream().map((row) -> {
			StringBuilder line = new StringBuilder();
			for (int i = 0; i < row.length; i++) {
				int column = i;
				int width = rows.stream().mapToInt((other) -> other[column].length()).max().orElseThrow();
				line.append("  ").append(row[i]).append(" ".repeat(width - row[i].length()));
			}
			return line.toString().stripTrailing();
		}).toArray(String[]::new);
	}

	@Test
	void logSaysThatAllIsOff(CapturedOutput output) {
		start("ratelimit.enabled=false", "api.limits=10/m");
		assertThat(output)
			.contains("Rate limits are off (ratelimit.enabled=false): no policy and no annotation is enforced")
			.doesNotContain("Rate limits: ");
	}

	/** Properties of policies begin with the name of the policy. */
	private static void start(String... properties) {
		start(Application.class, properties);
	}

	private static void start(Class<?> application, String... properties) {
		StarterRunners.application(application)
			.run(Stream.of(properties)
				.map((property) -> (property.startsWith("ratelimit.") ? "--" : "--ratelimit.policies.") + property)
				.toArray(String[]::new))
			.close();
	}

	@Configuration(proxyBeanMethods = false)
	@Import(Application.class)
	static class WithLimiter {

		@Bean
		Runnable mail(PolicyLimiter limiter) {
			return () -> limiter.tryAcquire("mail");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Application.class)
	static class WithOutgoing {

		@Bean
		ClientHttpRequestInterceptor mail(OutgoingRateLimits limits) {
			return limits.interceptor("mail", (request) -> Identifier.ip("192.0.2.1"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Application.class)
	static class WithReset {

		@RateLimited(policy = "login", identifiers = { "user", "ip", "ip+user", "ip+path" })
		public void login() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(RateLimitOffAutoConfiguration.class)
	static class Application {

		@Bean
		RateLimiter rateLimiter() {
			return new MemoryRateLimiter(InstantSource.system());
		}

		@Bean
		PlanResolver planResolver() {
			return (user, request) -> "pro";
		}

		@Bean
		Limited limited() {
			return new Limited();
		}

	}

	static class Limited {

		@RateLimited(limits = "1/s")
		public void inPlace() {
		}

		@RateLimited("day")
		public void day() {
		}

		@RateLimited("day")
		public void today() {
		}

		@RateLimited(policy = "day", identifiers = "user")
		public void dayOfUser() {
		}

	}

}
