package io.github.ratelimit.sample;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * The sample application with some wrong configurations: what it prints is enough to
 * correct it. Each row is the configuration below {@code ratelimit}, separated by
 * semicolons, then the property, the value, the rule, and what to do.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartFailureIT {

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					policies.a.limits=often                                    | policies.a.limits      | often     | Invalid limit (often): must be quota/window, such as 10/s, 100/15m or 10/500ms
					policies.my-api.limits=1/m;policies.myapi.limits=2/m       | policies.my-api        | my-api    | If they are one, write 'myapi' in both places; if not, rename one of them
					policies.a.limits=1/m;policies.a.algorithm=sliding-window;policies.a.precision=2m | policies.a.precision | PT2M | Invalid precision
					policies.a.limits=1/m;policies.a.paths=LOAD /a             | policies.a.paths       | LOAD /a   | LOAD is no HTTP method
					policies.a.limits=5/m;policies.a.paths=/a;policies.a.cost=6 | policies.a.cost       | 6         | Invalid cost (6): the limit 5/m would never allow it
					enabled=perhaps                                            | enabled                | perhaps   | Must be true or false
					""")
	void valueIsExplained(String configuration, String property, String value, String rule, CapturedOutput output) {
		start(configuration);
		assertThat(analysis(output)).contains(property)
			.contains(value)
			.contains(rule)
			.contains("Review the value of the property with the provided reason.");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					policies.a.mode=mild              | policies.a.mode             | mild  | must be one of enforce, shadow. | Set 'ratelimit.policies.a.mode' to one of
					policies.a.on-store-failure=retry | policies.a.on-store-failure | retry | must be one of allow, deny, local. | to one of allow, deny, local.
					policies.a.zone=Mars/Olympus      | policies.a.zone             | Mars/Olympus | must be a time zone such as Europe/Paris or UTC | Set 'ratelimit.policies.a.zone' to a time zone
					policies.a.precision=short        | policies.a.precision        | short | must be a duration such as 100ms | to a duration such as 100ms
					redis.timeout=soon                | redis.timeout               | soon  | must be a duration such as 100ms | to a duration such as 100ms
					plan-cache-ttl=1y                 | plan-cache-ttl              | 1y    | must be a duration such as 100ms | to a duration such as 100ms
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
	@CsvSource(delimiter = '|', textBlock = """
			policies.a.path=/a            | Did you mean 'ratelimit.policies.a.paths'?
			header.styles=draft           | Did you mean 'ratelimit.headers.styles'?
			""")
	void unknownPropertyIsExplained(String configuration, String action, CapturedOutput output) {
		start("policies.a.limits=1/m;" + configuration);
		assertThat(analysis(output)).containsIgnoringCase("There is no property 'ratelimit.")
			.contains("commandLineArgs")
			.contains(action);
	}

	private static void start(String configuration) {
		// Nobody need be there: a start that fails does not ask.
		List<String> arguments = new ArrayList<>(List.of("--server.port=0", "--server.address=127.0.0.1",
				"--spring.main.banner-mode=off", "--ratelimit.redis.host=127.0.0.1"));
		Stream.of(configuration.split(";")).map((property) -> "--ratelimit." + property).forEach(arguments::add);
		assertThatException()
			.isThrownBy(() -> SpringApplication.run(SampleApplication.class, arguments.toArray(String[]::new)).close());
	}

	private static String analysis(CapturedOutput output) {
		String text = output.toString();
		assertThat(text).contains("APPLICATION FAILED TO START", "Description:", "Action:");
		return text.substring(text.indexOf("APPLICATION FAILED TO START"));
	}

}
