package io.github.ratelimit.spring.web;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;

import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Identifiers, proxies and lists of clients that cannot be stop the start, with the name
 * of the property, its value and the rule.
 */
@ExtendWith(OutputCaptureExtension.class)
class InvalidIdentifierPropertiesTests {

	private static final String RULE = "must be ip, user, header:NAME, cookie:NAME, query:NAME, path, method, global, or several of them joined by '+'.";

	private static final String BLOCK_RULE = "must be an address or a block of addresses, such as 10.0.0.0/8 or 2001:db8::/32; names are not looked up.";

	private static final String NAME_RULE = "must be letters, digits, dots, underscores and hyphens, and none of [cookie, deny, global, header, ip, method, path, query, skip, user].";

	private static final String ALL_RULE = "must not be all addresses, because any client could then send the header, and choose by which address it is counted; name your own proxies only, such as 10.0.0.0/8.";

	private final WebApplicationContextRunner runner = StarterRunners.web();

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					identifiers.tenant=T(Math).E + #principal | identifiers.tenant | T(Math).E + #principal | Invalid expression (T(Math).E + #principal): T(Math) is not allowed; it may only read properties and methods of the variables #principal, #query and #request.
					identifiers.tenant='acme'       | identifiers.tenant | 'acme' | Invalid expression ('acme'): must use #request, #query or #principal, or it would be the same for everybody.
					identifiers.tenant=             | identifiers.tenant | ""     | Invalid expression (): is empty; in YAML, # begins a comment unless the expression is in quotes.
					identifiers.ip=#principal.name  | identifiers.ip     | #principal.name | Invalid name of an identifier (ip): NAME_RULE
					identifiers.skip=#principal.name | identifiers.skip  | #principal.name | Invalid name of an identifier (skip): NAME_RULE
					identifiers.deny=#principal.name | identifiers.deny  | #principal.name | Invalid name of an identifier (deny): NAME_RULE
					identifiers.header=#principal.name | identifiers.header | #principal.name | Invalid name of an identifier (header): NAME_RULE
					policies.api.identifiers=usr         | policies.api.identifiers | usr          | Invalid identifier (usr): RULE Did you mean 'user'?
					policies.api.identifiers=Ip          | policies.api.identifiers | Ip           | Invalid identifier (Ip): RULE Did you mean 'ip'?
					policies.api.identifiers=ip+methd    | policies.api.identifiers | ip+methd     | Invalid identifier (ip+methd): RULE Did you mean 'method'?
					policies.api.identifiers=haeder:X-Key | policies.api.identifiers | haeder:X-Key | Invalid identifier (haeder:X-Key): RULE Did you mean 'header:X-Key'?
					policies.api.identifiers=golbal      | policies.api.identifiers | golbal       | Invalid identifier (golbal): RULE Did you mean 'global'?
					policies.api.identifiers=paths       | policies.api.identifiers | paths        | Invalid identifier (paths): RULE Did you mean 'path'?
					policies.api.missing-identifier=Skip    | policies.api.missing-identifier | Skip    | Must be skip, deny, or an identifier. Did you mean 'skip'? Invalid identifier (Skip): RULE
					policies.api.missing-identifier=nothing | policies.api.missing-identifier | nothing | Must be skip, deny, or an identifier. Invalid identifier (nothing): RULE
					policies.api.missing-identifier=refuse  | policies.api.missing-identifier | refuse  | Must be skip, deny, or an identifier. Invalid identifier (refuse): RULE
					policies.api.missing-identifier=header: | policies.api.missing-identifier | header: | Must be skip, deny, or an identifier. Invalid identifier (header:): RULE
					policies.api.missing-identifier=ip+     | policies.api.missing-identifier | ip+     | Must be skip, deny, or an identifier. Invalid identifier (ip+): RULE
					policies.api.missing-identifier=tenant  | policies.api.missing-identifier | tenant  | Must be skip, deny, or an identifier. Invalid identifier (tenant): RULE
					policies.api.missing-identifier=        | policies.api.missing-identifier | ""      | Invalid missing identifier (): must be skip, deny, or an identifier such as ip.
					ip.ipv6-prefix=0                | ip.ipv6-prefix | 0   | Invalid IPv6 prefix (0): must be from 32 to 128 bits.
					ip.ipv6-prefix=31               | ip.ipv6-prefix | 31  | Invalid IPv6 prefix (31): must be from 32 to 128 bits.
					ip.ipv6-prefix=129              | ip.ipv6-prefix | 129 | Invalid IPv6 prefix (129): must be from 32 to 128 bits.
					ip.ipv6-prefix=-64              | ip.ipv6-prefix | -64 | Invalid IPv6 prefix (-64): must be from 32 to 128 bits.
					ip.forwarded-header=forwarded   | ip.forwarded-header | FORWARDED | Counts only with ratelimit.ip.trusted-proxies: name the proxies.
					ip.trusted-proxies[0]=10.0.0.0/8;ip.trusted-proxies[1]=localhost | ip.trusted-proxies[1] | localhost | Invalid address (localhost): BLOCK_RULE
					ip.trusted-proxies=10.0.0.0/8,::/0 | ip.trusted-proxies | ::/0 | Invalid trusted proxies [::/0]: ALL_RULE
					ip.trusted-proxies=0.0.0.0/1,128.0.0.0/1 | ip.trusted-proxies | [0.0.0.0/1, 128.0.0.0/1] | Invalid trusted proxies [0.0.0.0/1, 128.0.0.0/1]: ALL_RULE
					allow[0]=user:admin;allow[1]=ip:example.com | allow[1] | ip:example.com | Invalid address (example.com): BLOCK_RULE
					deny[0]=user:admin;deny[1]=ip:example.com   | deny[1]  | ip:example.com | Invalid address (example.com): BLOCK_RULE
					allow=user:admin,path:/api      | allow | path:/api | Invalid entry: must be of ip, user, header:NAME, cookie:NAME, query:NAME or an identifier of your own, not of path.
					deny=user:admin,path:/api       | deny  | path:/api | Invalid entry: must be of ip, user, header:NAME, cookie:NAME, query:NAME or an identifier of your own, not of path.
					""")
	void startFailsWhenPropertyIsWrong(String properties, String property, String value, String reason) {
		String rule = reason.replace("BLOCK_RULE", BLOCK_RULE)
			.replace("NAME_RULE", NAME_RULE)
			.replace("ALL_RULE", ALL_RULE)
			.replace("RULE", RULE);
		assertRejected("ratelimit." + property, value, rule,
				Arrays.stream(("policies.api.limits=10/s;" + properties).split(";"))
					.map("ratelimit."::concat)
					.toArray(String[]::new));
	}

	@Test
	void startFailsWhenExpressionCannotBeRead() {
		this.runner.withPropertyValues("ratelimit.identifiers.tenant=#principal[")
			.run((context) -> assertThat(StartFailure.refusal(context)).satisfies((ex) -> {
				assertThat(ex.getName()).isEqualTo("ratelimit.identifiers.tenant");
				assertThat(ex.getValue()).isEqualTo("#principal[");
				assertThat(ex.getReason()).startsWith("Invalid expression (#principal[): EL1");
			}));
	}

	@Test
	void startFailsWhenBeanAndExpressionHaveOneName() {
		this.runner.withBean("tenant", IdentifierResolver.class, () -> (request) -> "x")
			.withPropertyValues("ratelimit.identifiers.tenant=#principal.name")
			.run((context) -> StartFailure.assertRefused(context, "ratelimit.identifiers.tenant",
					"There is a bean of type IdentifierResolver with the name 'tenant' as well: remove one of them."));
	}

	@ParameterizedTest
	@ValueSource(strings = { "user", "a b" })
	void startFailsWhenNameOfBeanIsTaken(String name) {
		this.runner.withBean(name, IdentifierResolver.class, () -> (request) -> "x")
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseInstanceOf(IllegalArgumentException.class)
				.satisfies((failure) -> assertThat(trace(failure)).contains(
						"Invalid bean '%s' of type IdentifierResolver: Invalid name of an identifier (%s): must be letters"
							.formatted(name, name))));
	}

	@Test
	void ownIdentifiersAreKnown() {
		this.runner.withBean("plan", IdentifierResolver.class, () -> (request) -> "x")
			.withPropertyValues("ratelimit.identifiers.tenant=#principal.claims['tenant']",
					"ratelimit.policies.api.limits=1/s", "ratelimit.policies.api.paths=/**",
					"ratelimit.policies.api.identifiers=tenant,ip+plan",
					"ratelimit.policies.api.missing-identifier=plan", "ratelimit.deny=tenant:acme,plan:free")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.policies.api.identifiers", "ratelimit.defaults.identifiers" })
	void ownIdentifiersAreListedWhenIdentifierIsUnknown(String property) {
		assertRejected(
				this.runner.withBean("plan", IdentifierResolver.class, () -> (request) -> "x")
					.withPropertyValues("ratelimit.identifiers.tenant=#principal.claims['tenant']"),
				property, "tenent",
				"Invalid identifier (tenent): must be ip, user, header:NAME, cookie:NAME, query:NAME, path, method, global, plan, tenant, or several of them joined by '+'. Did you mean 'tenant'?",
				"ratelimit.policies.api.limits=10/s", property + "=tenent");
	}

	@Test
	void startFailsWhenNoRequestCouldLackAnIdentifier() {
		StarterRunners.nonWeb()
			.withPropertyValues("ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.identifiers=user",
					"ratelimit.policies.api.missing-identifier=deny")
			.run((context) -> assertThat(StartFailure.refusal(context)).satisfies((ex) -> {
				assertThat(ex.getName()).isEqualTo("ratelimit.policies.api.missing-identifier");
				assertThat(ex.getValue()).isEqualTo("deny");
				assertThat(ex.getReason()).isEqualTo("Has an effect only in a Servlet web application.");
			}));
	}

	@Test
	void proxiesMayBeNamedBesideFilterOfForwardedHeaders() {
		this.runner
			.withPropertyValues("ratelimit.ip.trusted-proxies=10.0.0.0/8", "server.forward-headers-strategy=framework")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/** As in tests without a container. */
	@Test
	void policyMayCountUsersOnlyWhenFiltersAreUnknown() {
		this.runner
			.withPropertyValues("ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.paths=/**",
					"ratelimit.policies.api.identifiers=user", "ratelimit.policies.api.missing-identifier=skip")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "header:X Key:s3cr3t, header:X Key:***", "headr:X-Key:s3cr3t, headr:X-Key:***",
			"cookie::s3cr3t, cookie::***" })
	void secretOfEntryIsNotShown(String entry, String shown) {
		this.runner.withPropertyValues("ratelimit.allow=" + entry).run((context) -> {
			assertThat(StartFailure.refusal(context).getValue()).isEqualTo(shown);
			assertThat(trace(context.getStartupFailure())).doesNotContain("s3cr3t");
		});
	}

	@ParameterizedTest
	@CsvSource({ "ratelimit.allow, header:X-Key:s3cr3t", "ratelimit.deny, ip:::1",
			"ratelimit.ip.trusted-proxies, 10.0.0.0/8" })
	void startFailsWhenThereAreNoRequestsToIdentify(String property, String value) {
		StarterRunners.nonWeb().withPropertyValues(property + "=" + value).run((context) -> {
			assertThat(StartFailure.refusal(context)).satisfies((ex) -> {
				assertThat(ex.getName()).isEqualTo(property);
				assertThat(ex.getReason()).isEqualTo("Has an effect only in a Servlet web application.");
			});
			assertThat(trace(context.getStartupFailure())).doesNotContain("s3cr3t");
		});
	}

	private void assertRejected(String property, @Nullable Object value, String reason, String... properties) {
		assertRejected(this.runner, property, value, reason, properties);
	}

	private static void assertRejected(WebApplicationContextRunner runner, String property, @Nullable Object value,
			String reason, String... properties) {
		runner.withPropertyValues(properties)
			.run((context) -> StartFailure.assertRefused(context, property, value, reason));
	}

	private static String trace(Throwable failure) {
		StringWriter trace = new StringWriter();
		failure.printStackTrace(new PrintWriter(trace));
		return trace.toString();
	}

}
