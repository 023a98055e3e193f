package io.github.ratelimit.sample;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * The sample application with each of many wrong configurations: what it prints is enough
 * to correct it. Each row is the configuration below {@code ratelimit}, separated by
 * semicolons, then the property, the value, the rule, and what to do.
 * <p>
 * A new setting has its wrong values here.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartFailureIT {

	private static final String REVIEW = "Review the value of the property with the provided reason.";

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
							policies.a.limits=often                                    | policies.a.limits      | often     | Invalid limit (often): must be quota/window, such as 10/s, 100/15m or 10/500ms
							policies.a.limits=10/s,9/y                                 | policies.a.limits      | 10/s,9/y  | Invalid limit (9/y): must be quota/window
							policies.a.limits=10/m,20/60s                              | policies.a.limits      | 20/60s    | there must be only one limit for the window m
							policies.a.limits=10/0s                                    | policies.a.limits      | 10/0s     | Invalid window (PT0S): must be whole milliseconds, from 1ms to 3650d
							policies.a.limits=300000000000/m                           | policies.a.limits      | 300000000000/m  | the quota must be at most 274877906944 for sliding-window
							policies.a.paths=/a                                        | policies.a.limits      | null      | A policy must have at least one limit, such as 100/m
							policies[a/b].limits=1/m                                   | policies[a/b]          | a/b       | must be 1 to 128 printable ASCII characters other than '/'
							policies[café].limits=1/m                                  | policies[café]         | café      | must be 1 to 128 printable ASCII characters other than '/'
							policies.my-api.limits=1/m;policies.myapi.limits=2/m       | policies.my-api        | my-api    | If they are one, write 'myapi' in both places; if not, rename one of them
							policies[ReportController.report].limits=1/m               | ReportController.report | ratelimit.policies | give one of them another name
							policies.a.limits=1/m;policies.a.algorithm=guess           | policies.a.algorithm   | guess     | must be one of fixed-window, first-request-window, sliding-log
							policies.a.limits=1/m;policies.a.burst=5                   | policies.a.burst       | 5         | Is an option of token-bucket, but the algorithm of this policy is sliding-window: change the algorithm, or remove the option
							policies.a.limits=1/m;policies.a.algorithm=fixed-window;policies.a.retain=0 | policies.a.retain | 0 | Invalid retain (0): must be
							policies.a.limits=1/m;policies.a.algorithm=sliding-window;policies.a.precision=2m | policies.a.precision | PT2M | Invalid precision
							policies.a.limits=1/m;policies.a.paths=a/**                | policies.a.paths       | a/**      | must be a pattern such as /api/** or GET /user/**
							policies.a.limits=1/m;policies.a.paths=LOAD /a             | policies.a.paths       | LOAD /a   | LOAD is no HTTP method
							policies.a.limits=5/m;policies.a.paths=/a;policies.a.cost=6 | policies.a.cost       | 6         | Invalid cost (6): the limit 5/m would never allow it
							policies.a.limits=5/m;policies.a.cost=2                    | policies.a.cost        | 2         | Has no effect without paths
							policies.a.limits=5/m;policies.a.routes[0].cost=2          | policies.a.routes[0].paths | null  | A route must have at least one path
							policies.a.limits=1/m;policies.a.identifiers=address       | policies.a.identifiers | address   | Invalid identifier (address): must be ip, user, header:NAME
							policies.a.limits=1/m;policies.a.identifiers=header:X User | policies.a.identifiers | header:X User | Invalid identifier (header:X User): must be
							policies.a.limits=1/m;policies.a.identifiers=ip,ip         | policies.a.identifiers | ip,ip     | there must be at least one, and no duplicates
							defaults.identifiers=address                               | defaults.identifiers   | address   | Invalid identifier (address): must be ip, user, header:NAME
							policies.a.limits=1/m;policies.a.plans.pro.limits=2/m      | policies.a.plans       | pro       | set ratelimit.plan, or provide a PlanResolver bean
							plan=#who;policies.a.limits=1/m;policies.a.plans.pro.limits=2/m | plan              | #who      | it may only read properties and methods of the variables #principal, #query and #request
							plan='a';policies.a.limits=1/m;policies.a.plans.pro.unlimited=true;policies.a.plans.pro.limits=1/m | policies.a.plans.pro | 1/m | Has limits, but is unlimited as well: remove one of them
							plan='a';policies.a.limits=1/m;policies.a.plans.pro.unlimited=false | policies.a.plans.pro | '' | Is an empty plan: give it limits, such as 100/m, or unlimited: true
							policies.a.limits=1/m,9/h;policies.a.algorithm=token-bucket;policies.a.burst=5 | policies.a.burst | 5 | a policy must have one limit, but has [1/m, 9/h]; use two policies, or remove the burst
							policies.a.limits=1/m;policies.a.algorithm=token-bucket;policies.a.burst=0 | policies.a.burst | 0 | Invalid burst (0): must be from 1 to 94906265 tokens
							ip.trusted-proxies=0.0.0.0/0                               | ip.trusted-proxies     | 0.0.0.0/0 | must not be all addresses, because any client could then send the header
					enabled=perhaps                                            | enabled                | perhaps   | Must be true or false
					enabled=yes                                                | enabled                | yes       | Must be true or false
							key-prefix={a}                                             | key-prefix             | {a}       | Invalid key prefix ({a}): must be
							redis.timeout=1ns                                          | redis.timeout          | 1ns | Must be from 2ms to 1h
							redis.port=70000                                           | redis.port             | 70000     | Must be from 1 to 65535
							redis.url=localhost                                        | redis.url              | localhost | Must be a URL such as redis://
					""")
	void valueIsExplained(String configuration, String property, String value, String rule, CapturedOutput output) {
		start(configuration);
		assertThat(analysis(output)).contains(property)
			.contains(value)
			.contains(rule)
			.containsAnyOf(REVIEW, "Correct the annotation on ");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					policies.a.mode=mild              | policies.a.mode             | mild  | must be one of enforce, shadow. | Set 'ratelimit.policies.a.mode' to one of
					policies.a.on-store-failure=retry | policies.a.on-store-failure | retry | must be one of allow, deny, local. | to one of allow, deny, local.
					policies.a.rounding=half          | policies.a.rounding         | half  | must be one of none, down, up. | to one of none, down, up.
					headers.styles=loud               | headers.styles              | loud  | must be one of draft, x-rate-limit, x-ratelimit | Review the value
					policies.a.zone=Mars/Olympus      | policies.a.zone             | Mars/Olympus | must be a time zone such as Europe/Paris or UTC | Set 'ratelimit.policies.a.zone' to a time zone
					policies.a.precision=short        | policies.a.precision        | short | must be a duration such as 100ms | to a duration such as 100ms
					redis.timeout=soon                | redis.timeout               | soon  | must be a duration such as 100ms | to a duration such as 100ms
					plan-cache-ttl=1y                 | plan-cache-ttl              | 1y    | must be a duration such as 100ms | to a duration such as 100ms
					policies.a.cost=much              | policies.a.cost             | much  | must be a whole number | to a whole number
					policies.a.count-denied=perhaps   | policies.a.count-denied     | perhaps | must be true or false | to true or false
					""")
	void typeIsExplained(String configuration, String property, String value, String rule, String action,
			CapturedOutput output) {
		start("policies.a.limits=1/m;" + configuration);
		assertThat(analysis(output)).contains("ratelimit." + property)
			.contains(value)
			.contains("commandLineArgs")
			.contains(rule)
			.contains(action);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					policies.a.path=/a            | Did you mean 'ratelimit.policies.a.paths'?
					policies.a.limit=1/s          | Did you mean 'ratelimit.policies.a.limits'?
					policies.a.on-store-failur=deny | Did you mean 'ratelimit.policies.a.on-store-failure'?
					policies.a.onFailure=deny     | Remove it, or use one of those below 'ratelimit.policies.a': algorithm, burst
					policies.a.routes[0].path=/a  | Did you mean 'ratelimit.policies.a.routes[0].paths'?
					policies.a.plans.pro.limit=1/m | Did you mean 'ratelimit.policies.a.plans.pro.limits'?
					policy.a.limits=1/s           | Did you mean 'ratelimit.policies.a.limits'?
					redis.hots=localhost          | Did you mean 'ratelimit.redis.host'?
					header.styles=draft           | Did you mean 'ratelimit.headers.styles'?
					paths=/a/**                   | Did you mean 'ratelimit.policies.NAME.paths'?
					enable=false                  | Did you mean 'ratelimit.enabled'?
					""")
	void unknownPropertyIsExplained(String configuration, String action, CapturedOutput output) {
		start("policies.a.limits=1/m;" + configuration);
		assertThat(analysis(output)).containsIgnoringCase("There is no property 'ratelimit.")
			.contains("commandLineArgs")
			.contains(action);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			UnknownPolicy     | there is no policy 'nothing' below ratelimit.policies, only [
			UnknownAlgorithm  | Invalid algorithm (guess): must be one of fixed-window
			UnknownIdentifier | Invalid identifier (address): must be ip, user, header:NAME
			WrongLimit        | Invalid limit (often): must be quota/window
			WrongCost         | Invalid cost (6): the limit 5/m would never allow it
			NoLimits          | it must name a policy or have limits
			""")
	void annotationIsExplained(String type, String rule, CapturedOutput output) throws ClassNotFoundException {
		Class<?> configuration = Class.forName(StartFailureIT.class.getName() + "$" + type);
		start("policies.a.limits=1/m", configuration);
		String method = "public void " + configuration.getName() + ".call()";
		assertThat(analysis(output)).contains("Invalid @RateLimited on " + method + ": " + rule)
			.contains("Correct the annotation on " + method + ".");
	}

	private static void start(String configuration, Class<?>... more) {
		List<String> arguments = new ArrayList<>(
				List.of("--server.port=0", "--server.address=127.0.0.1", "--spring.main.banner-mode=off"));
		if (!configuration.contains("redis.url")) {
			// Nobody need be there: a start that fails does not ask.
			arguments.add("--ratelimit.redis.host=127.0.0.1");
		}
		Stream.of(configuration.split(";")).map((property) -> "--ratelimit." + property).forEach(arguments::add);
		Class<?>[] sources = Stream.concat(Stream.of(SampleApplication.class), Stream.of(more))
			.toArray(Class<?>[]::new);
		assertThatException()
			.isThrownBy(() -> SpringApplication.run(sources, arguments.toArray(String[]::new)).close());
	}

	private static String analysis(CapturedOutput output) {
		String text = output.toString();
		assertThat(text).contains("APPLICATION FAILED TO START", "Description:", "Action:");
		return text.substring(text.indexOf("APPLICATION FAILED TO START"));
	}

	@Configuration(proxyBeanMethods = false)
	static class UnknownPolicy {

		@RateLimited("nothing")
		public void call() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class UnknownAlgorithm {

		@RateLimited(limits = "1/m", algorithm = "guess")
		public void call() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class UnknownIdentifier {

		@RateLimited(limits = "1/m", identifiers = "address")
		public void call() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WrongLimit {

		@RateLimited(limits = "often")
		public void call() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WrongCost {

		@RateLimited(limits = "5/m", cost = 6)
		public void call() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NoLimits {

		@RateLimited
		public void call() {
		}

	}

}
