package io.github.ratelimit.spring.web;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

import io.github.ratelimit.spring.ForwardedHeader;
import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Identifiers, proxies and lists of clients that cannot be stop the start, with the name
 * of the property, its value and the rule.
 */
@ExtendWith(OutputCaptureExtension.class)
class InvalidIdentifierPropertiesTests {

	private static final String RULE = "must be ip, user, header:NAME, cookie:NAME, path, method, global, or several of them joined by '+'.";

	private static final String BLOCK_RULE = "must be an address or a block of addresses, such as 10.0.0.0/8 or 2001:db8::/32; names are not looked up.";

	private final WebApplicationContextRunner runner = StarterRunners.web();

	@Test
	void startFailsWhenExpressionIsWrong() {
		assertRejected("ratelimit.identifiers.tenant", "T(java.lang.System).in + #principal",
				"Invalid expression (T(java.lang.System).in + #principal): T(java.lang.System) is not allowed; it may only read properties and methods of the variables #principal and #request.",
				"ratelimit.identifiers.tenant=T(java.lang.System).in + #principal");
		assertRejected("ratelimit.identifiers.tenant", "'acme'",
				"Invalid expression ('acme'): must use #request or #principal, or it would be the same for everybody.",
				"ratelimit.identifiers.tenant='acme'");
	}

	@Test
	void startFailsWhenExpressionIsEmpty() {
		assertRejected("ratelimit.identifiers.tenant", "",
				"Invalid expression (): is empty; in YAML, # begins a comment unless the expression is in quotes.",
				"ratelimit.identifiers.tenant=");
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

	@ParameterizedTest
	@ValueSource(strings = { "ip", "skip", "deny", "header" })
	void startFailsWhenNameOfExpressionIsTaken(String name) {
		assertRejected("ratelimit.identifiers." + name, "#principal.name",
				"Invalid name of an identifier (%s): must be letters, digits, dots, underscores and hyphens, and none of [cookie, deny, global, header, ip, method, path, skip, user]."
					.formatted(name),
				"ratelimit.identifiers." + name + "=#principal.name");
	}

	@Test
	void startFailsWhenBeanAndExpressionHaveOneName() {
		this.runner.withBean("tenant", IdentifierResolver.class, () -> (request) -> "x")
			.withPropertyValues("ratelimit.identifiers.tenant=#principal.name")
			.run((context) -> assertThat(StartFailure.refusal(context)).satisfies((ex) -> {
				assertThat(ex.getName()).isEqualTo("ratelimit.identifiers.tenant");
				assertThat(ex.getReason()).isEqualTo(
						"There is a bean of type IdentifierResolver with the name 'tenant' as well: remove one of them.");
			}));
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
				"Invalid identifier (tenent): must be ip, user, header:NAME, cookie:NAME, path, method, global, plan, tenant, or several of them joined by '+'. Did you mean 'tenant'?",
				"ratelimit.policies.api.limits=10/s", property + "=tenent");
	}

	@ParameterizedTest
	@CsvSource({ "usr, user", "Ip, ip", "ip+methd, method", "haeder:X-Key, header:X-Key", "golbal, global",
			"paths, path" })
	void nearestIdentifierIsProposedWhenItIsUnknown(String name, String meant) {
		assertRejected("ratelimit.policies.api.identifiers", name,
				"Invalid identifier (%s): %s Did you mean '%s'?".formatted(name, RULE, meant),
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.identifiers=" + name);
	}

	@Test
	void nearestRuleIsProposedWhenFallbackIsUnknown() {
		assertRejected("ratelimit.policies.api.missing-identifier", "Skip",
				"Must be skip, deny, or an identifier. Did you mean 'skip'? Invalid identifier (Skip): " + RULE,
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.missing-identifier=Skip");
	}

	@ParameterizedTest
	@ValueSource(strings = { "nothing", "refuse", "header:", "ip+", "tenant" })
	void startFailsWhenFallbackIsUnknown(String name) {
		assertRejected("ratelimit.policies.api.missing-identifier", name,
				"Must be skip, deny, or an identifier. Invalid identifier (%s): %s".formatted(name, RULE),
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.missing-identifier=" + name);
	}

	@Test
	void startFailsWhenFallbackIsEmpty() {
		assertRejected("ratelimit.policies.api.missing-identifier", "",
				"Invalid missing identifier (): must be skip, deny, or an identifier such as ip.",
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.missing-identifier=");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			ip          | deny
			ip          | skip
			ip          | global
			ip+method   | header:X-User
			global,ip   | deny
			""")
	void startFailsWhenNoRequestCanLackItsIdentifiers(String identifiers, String missing) {
		assertRejected("ratelimit.policies.api.missing-identifier", missing,
				"Has no effect, because no request lacks the identifiers %s."
					.formatted(List.of(identifiers.split(","))),
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.identifiers=" + identifiers,
				"ratelimit.policies.api.missing-identifier=" + missing);
	}

	@Test
	void ruleForMissingIdentifierMayBeForAnAnnotationAlone() {
		this.runner.withBean(Keyed.class)
			.withPropertyValues("ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.missing-identifier=deny")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void startFailsWhenThereAreNoRequestsThatCouldLackAnIdentifier() {
		StarterRunners.nonWeb()
			.withPropertyValues("ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.identifiers=user",
					"ratelimit.policies.api.missing-identifier=deny")
			.run((context) -> assertThat(StartFailure.refusal(context)).satisfies((ex) -> {
				assertThat(ex.getName()).isEqualTo("ratelimit.policies.api.missing-identifier");
				assertThat(ex.getValue()).isEqualTo("deny");
				assertThat(ex.getReason())
					.isEqualTo("Conditions on requests can be used only in a Servlet web application.");
			}));
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 31, 129, -64 })
	void startFailsWhenPrefixIsOutOfRange(int prefix) {
		assertRejected("ratelimit.ip.ipv6-prefix", prefix,
				"Invalid IPv6 prefix (%d): must be from 32 to 128 bits.".formatted(prefix),
				"ratelimit.ip.ipv6-prefix=" + prefix);
	}

	@Test
	void startFailsWhenProxyIsNoAddress() {
		assertRejected("ratelimit.ip.trusted-proxies[1]", "localhost", "Invalid address (localhost): " + BLOCK_RULE,
				"ratelimit.ip.trusted-proxies[0]=10.0.0.0/8", "ratelimit.ip.trusted-proxies[1]=localhost");
	}

	@Test
	void startFailsWhenAllAddressesAreTrusted() {
		assertRejected("ratelimit.ip.trusted-proxies", "::/0",
				"Invalid trusted proxies [::/0]: must not be all addresses, because any client could then send the header, and choose by which address it is counted; name your own proxies only, such as 10.0.0.0/8.",
				"ratelimit.ip.trusted-proxies=10.0.0.0/8,::/0");
		assertRejected("ratelimit.ip.trusted-proxies", List.of("0.0.0.0/1", "128.0.0.0/1"),
				"Invalid trusted proxies [0.0.0.0/1, 128.0.0.0/1]: must not be all addresses, because any client could then send the header, and choose by which address it is counted; name your own proxies only, such as 10.0.0.0/8.",
				"ratelimit.ip.trusted-proxies=0.0.0.0/1,128.0.0.0/1");
	}

	@Test
	void startFailsWhenHeaderHasNoProxies() {
		assertRejected("ratelimit.ip.forwarded-header", ForwardedHeader.FORWARDED,
				"Counts only with ratelimit.ip.trusted-proxies: name the proxies.",
				"ratelimit.ip.forwarded-header=forwarded");
	}

	@Test
	void proxiesMayBeNamedBesideFilterOfForwardedHeaders() {
		this.runner
			.withPropertyValues("ratelimit.ip.trusted-proxies=10.0.0.0/8", "server.forward-headers-strategy=framework")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "allow", "deny" })
	void startFailsWhenEntryOfListIsWrong(String list) {
		String property = "ratelimit." + list;
		assertRejected(property + "[1]", "ip:example.com", "Invalid address (example.com): " + BLOCK_RULE,
				property + "[0]=user:admin", property + "[1]=ip:example.com");
		assertRejected(property, "path:/api",
				"Invalid entry: must be of ip, user, header:NAME, cookie:NAME or an identifier of your own, not of path.",
				property + "=user:admin,path:/api");
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

	@Test
	void warningNamesPoliciesThatLimitAllowedUsers(CapturedOutput output) {
		this.runner
			.withPropertyValues("ratelimit.allow=user:admin", "ratelimit.policies.one.limits=1/s",
					"ratelimit.policies.one.paths=/**", "ratelimit.policies.two.limits=1/s",
					"ratelimit.policies.two.paths=/**", "ratelimit.policies.two.identifiers=user")
			.run((context) -> assertThat(output).contains(
					"Some entries of ratelimit.allow are known only after the login, but the policies [one] count before it. What such clients use of them is refunded, but they are denied while it is used up"));
	}

	@Test
	void thereIsNoWarningWhenAllowedClientsAreKnownBefore(CapturedOutput output) {
		this.runner
			.withPropertyValues("ratelimit.allow=ip:::1", "ratelimit.policies.one.limits=1/s",
					"ratelimit.policies.one.paths=/**")
			.run((context) -> assertThat(output).doesNotContain("ratelimit.allow"));
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

	static class Keyed {

		@RateLimited(policy = "api", identifiers = "header:X-Key")
		public void call() {
		}

	}

}
