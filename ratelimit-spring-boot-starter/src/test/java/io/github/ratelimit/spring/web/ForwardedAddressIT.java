package io.github.ratelimit.spring.web;

import java.util.function.Function;
import java.util.stream.Stream;

import org.apache.catalina.filters.RemoteIpFilter;
import org.apache.catalina.valves.RemoteIpValve;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.ForwardedRequestCustomizer;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.jetty.servlet.JettyServletWebServerFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Clients behind proxies, and clients that invent addresses, where forwarded headers are
 * read by the limiter, the servers, or filters.
 */
@ExtendWith(OutputCaptureExtension.class)
class ForwardedAddressIT {

	@RegisterExtension
	static final TestApplications applications = new TestApplications();

	private static final String STRATEGY = "server.forward-headers-strategy";

	private static final String KUBERNETES = "spring.main.cloud-platform=kubernetes";

	private static final String PROXIES = "ratelimit.ip.trusted-proxies=10.0.0.0/8";

	/** Code can do what the strategy does. */
	static Stream<Arguments> rewriting() {
		return Stream.of(Arguments.of(Container.TOMCAT, TestApplication.Served.class, "framework"),
				Arguments.of(Container.JETTY, TestApplication.Served.class, "framework"),
				Arguments.of(Container.JETTY, JettyCustomizer.class, "none"));
	}

	@ParameterizedTest
	@MethodSource("rewriting")
	void lastUntrustedAddressIsUsedWhateverReadsHeaders(Container container, Class<?> configuration, String strategy) {
		try (TestApplication application = start(container, configuration, STRATEGY + "=" + strategy,
				"ratelimit.ip.trusted-proxies=127.0.0.1,10.0.0.0/8")) {
			assertForgedIsCountedOnce(application, "6.6.6.%d, 203.0.113.7, 10.0.0.2"::formatted);
			assertThat(application.get("/api", "X-Forwarded-For", "203.0.113.8").statusCode()).isEqualTo(200);
		}
	}

	@ParameterizedTest
	@CsvSource({ "TOMCAT, " + KUBERNETES + ", " + STRATEGY + ", native",
			"JETTY, " + KUBERNETES + ", " + STRATEGY + ", native",
			"TOMCAT, " + STRATEGY + "=native, " + STRATEGY + ", native",
			"TOMCAT, server.tomcat.remoteip.remote-ip-header=X-Real-IP, server.tomcat.remoteip.remote-ip-header, X-Real-IP",
			"TOMCAT, server.tomcat.remoteip.protocol-header=X-Proto, server.tomcat.remoteip.protocol-header, X-Proto" })
	void startFailsWhenServerReadsHeadersOfTrustedProxies(Container container, String argument, String property,
			String value, CapturedOutput output) {
		assertThatException().isThrownBy(() -> start(container, PROXIES, argument).close());
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Invalid value '%s' for configuration property '%s'".formatted(value, property));
		if (argument.equals(KUBERNETES)) {
			assertThat(output).contains("Spring Boot sets it by itself on the cloud platform KUBERNETES")
				.contains("set " + STRATEGY + " to none");
		}
	}

	@ParameterizedTest
	@EnumSource
	void inventedAddressesDoNotCountInKubernetesWithoutStrategy(Container container) {
		try (TestApplication application = start(container, PROXIES, KUBERNETES, STRATEGY + "=none")) {
			assertForgedIsCountedOnce(application, "6.6.6.%d"::formatted);
		}
	}

	/** It replaces the address, and removes the header. */
	@Test
	void inventedAddressesDoNotCountBesideFilterOfTomcat(CapturedOutput output) {
		try (TestApplication application = start(Container.TOMCAT, TomcatFilter.class, PROXIES)) {
			assertForgedIsCountedOnce(application, "6.6.6.%d"::formatted);
		}
		assertThat(output).containsOnlyOnce("A RemoteIpValve or RemoteIpFilter of Tomcat reads forwarded headers");
	}

	@ParameterizedTest
	@CsvSource({ "TOMCAT, native", "TOMCAT, framework", "JETTY, native", "JETTY, framework" })
	void emptyHeaderIsCountedByAddressOfConnection(Container container, String strategy) {
		TestApplication application = shared(container, STRATEGY + "=" + strategy);
		assertThat(application.statuses(3, "/api")).containsOnly(200);
		assertThat(application.get("/api", "X-Forwarded-For", "").statusCode()).isEqualTo(429);
	}

	/** A server that trusts private addresses alone is not the same. */
	@ParameterizedTest
	@CsvSource({ "TOMCAT, framework, true", "JETTY, framework, true", "JETTY, native, true", "TOMCAT, native, false" })
	void forwardedHeaderThatAnyClientMaySendIsLogged(Container container, String strategy, boolean logged,
			CapturedOutput output) {
		try (TestApplication application = start(container, STRATEGY + "=" + strategy)) {
			for (int i = 0; i < 2; i++) {
				application.get("/api", "X-Forwarded-For", "203.0.113.7");
			}
		}
		assertThat(output.toString().split("Any client can choose the address that it is counted by", -1))
			.hasSize(logged ? 2 : 1);
		assertThat(output).doesNotContain("by the address of their connection");
	}

	/** None gets a count of its own by the way its address is written. */
	@ParameterizedTest
	@CsvSource({ "TOMCAT, framework, Forwarded, 'for=\"[2001:db8:1:2::%d]:555%<d\"'",
			"TOMCAT, framework, Forwarded, 'for=\"203.0.113.7:555%d\"'",
			"TOMCAT, framework, X-Forwarded-For, 203.0.113.7:%d", "JETTY, framework, X-Forwarded-For, [2001:db8::1]:%d",
			"TOMCAT, native, X-Forwarded-For, [2001:db8:1:2::%d]:555%<d",
			"TOMCAT, native, X-Forwarded-For, 203.0.113.7:555%d", "TOMCAT, none, X-Forwarded-For, 203.0.113.%d" })
	void addressesOfOneClientShareCount(Container container, String strategy, String header, String form) {
		TestApplication application = shared(container, STRATEGY + "=" + strategy);
		assertCountedOnce(application, header, form::formatted);
		assertThat(application.get("/api", header, "for=203.0.113.99".substring(header.equals("Forwarded") ? 0 : 4))
			.statusCode()).isEqualTo(strategy.equals("none") ? 429 : 200);
	}

	@Test
	void clientBehindTrustedProxiesCannotChooseAnotherCount() {
		try (TestApplication application = start(Container.TOMCAT,
				"ratelimit.ip.trusted-proxies=127.0.0.0/8,10.0.0.0/8", "ratelimit.ip.forwarded-header=forwarded",
				"ratelimit.ip.ipv6-prefix=48")) {
			assertCountedOnce(application, "Forwarded",
					"for=6.6.6.%d, for=\"[2001:db8:1:%<d::1]\", for=10.0.0.2"::formatted);
			assertThat(application.get("/api", "Forwarded", "for=\"[2001:db8:2::1]\"").statusCode()).isEqualTo(200);
		}
	}

	private static void assertForgedIsCountedOnce(TestApplication application, Function<Integer, String> address) {
		assertCountedOnce(application, "X-Forwarded-For", address);
	}

	private static void assertCountedOnce(TestApplication application, String header,
			Function<Integer, String> address) {
		for (int i = 1; i <= 9; i++) {
			assertThat(application.get("/api", header, address.apply(i)).statusCode()).as("request %d", i)
				.isEqualTo((i <= 3) ? 200 : 429);
		}
	}

	private static TestApplication shared(Container container, String property) {
		return applications.get(container, TestApplication.Served.class, withPolicy(property));
	}

	private static TestApplication start(Container container, String... properties) {
		return start(container, TestApplication.Served.class, properties);
	}

	private static TestApplication start(Container container, Class<?> configuration, String... properties) {
		return TestApplication.start(container, configuration, withPolicy(properties));
	}

	private static String[] withPolicy(String... properties) {
		return Stream
			.concat(Stream.of("ratelimit.policies.api.paths=/api/**", "ratelimit.policies.api.limits=3/m"),
					Stream.of(properties))
			.toArray(String[]::new);
	}

	static class JettyCustomizer extends TestApplication.Served {

		@Bean
		WebServerFactoryCustomizer<JettyServletWebServerFactory> customizer() {
			return (factory) -> factory.addServerCustomizers((server) -> {
				for (Connector connector : server.getConnectors()) {
					connector.getConnectionFactory(HttpConnectionFactory.class)
						.getHttpConfiguration()
						.addCustomizer(new ForwardedRequestCustomizer());
				}
			});
		}

	}

	static class TomcatFilter extends TestApplication.Served {

		@Bean
		FilterRegistrationBean<RemoteIpFilter> tomcatFilter() {
			return TestApplication.filterAt(Ordered.HIGHEST_PRECEDENCE, new RemoteIpFilter());
		}

	}

}
