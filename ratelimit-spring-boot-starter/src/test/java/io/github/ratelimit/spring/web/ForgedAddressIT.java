package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.Collections;
import java.util.Enumeration;
import java.util.function.Function;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.web.filter.ForwardedHeaderFilter;
import org.springframework.web.filter.OncePerRequestFilter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Clients that invent addresses, where others than the limiter read forwarded headers:
 * the servers, and filters.
 */
@ExtendWith(OutputCaptureExtension.class)
class ForgedAddressIT {

	@RegisterExtension
	static final TestApplications applications = new TestApplications();

	private static final String STRATEGY = "server.forward-headers-strategy";

	private static final String KUBERNETES = "spring.main.cloud-platform=kubernetes";

	private static final String PROXIES = "ratelimit.ip.trusted-proxies=10.0.0.0/8";

	/** What reads the headers before the limiter, behind proxies or before them. */
	@ParameterizedTest
	@EnumSource
	void inventedAddressesDoNotCountBehindTrustedProxies(Rewriting rewriting) {
		try (TestApplication application = start(rewriting.configuration, PROXIES, rewriting.property)) {
			assertForgedIsCountedOnce(application, "6.6.6.%d"::formatted);
		}
	}

	@ParameterizedTest
	@EnumSource
	void lastUntrustedAddressIsUsedWhateverReadsHeaders(Rewriting rewriting) {
		try (TestApplication application = start(rewriting.configuration,
				"ratelimit.ip.trusted-proxies=127.0.0.1,10.0.0.0/8", rewriting.property)) {
			assertForgedIsCountedOnce(application, "6.6.6.%d, 203.0.113.7, 10.0.0.2"::formatted);
			assertThat(application.get("/api", "X-Forwarded-For", "203.0.113.8").statusCode()).isEqualTo(200);
		}
	}

	@ParameterizedTest
	@EnumSource
	void startFailsInKubernetesWhenServerReadsHeadersOfTrustedProxies(Server server, CapturedOutput output) {
		assertThatException().isThrownBy(() -> start(server.configuration, PROXIES, KUBERNETES).close());
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Invalid value 'native' for configuration property '" + STRATEGY + "'")
			.contains("Spring Boot sets it by itself on the cloud platform KUBERNETES")
			.contains("set " + STRATEGY + " to none");
	}

	@ParameterizedTest
	@EnumSource
	void inventedAddressesDoNotCountInKubernetesWhenStrategyIsNone(Server server) {
		try (TestApplication application = start(server.configuration, PROXIES, KUBERNETES, STRATEGY + "=none")) {
			assertForgedIsCountedOnce(application, "6.6.6.%d"::formatted);
		}
	}

	@ParameterizedTest
	@CsvSource({ STRATEGY + "=native, " + STRATEGY + ", native",
			"server.tomcat.remoteip.remote-ip-header=X-Real-IP, server.tomcat.remoteip.remote-ip-header, X-Real-IP",
			"server.tomcat.remoteip.protocol-header=X-Proto, server.tomcat.remoteip.protocol-header, X-Proto" })
	void startFailsWhenServerReadsHeadersOfTrustedProxies(String argument, String property, String value,
			CapturedOutput output) {
		assertThatException().isThrownBy(() -> start(TestApplication.Served.class, PROXIES, argument).close());
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Invalid value '%s' for configuration property '%s'".formatted(value, property));
	}

	@ParameterizedTest
	@EnumSource
	void everyPortOfClientSharesItsCount(Server server) {
		TestApplication application = shared(server.configuration, STRATEGY + "=framework");
		assertForgedIsCountedOnce(application, "203.0.113.7:%d"::formatted);
		application.forget();
		assertForgedIsCountedOnce(application, "[2001:db8::1]:%d"::formatted);
	}

	@ParameterizedTest
	@CsvSource({ "TOMCAT, native", "TOMCAT, framework", "JETTY, native", "JETTY, framework" })
	void emptyHeaderIsCountedByAddressOfConnection(Server server, String strategy) {
		TestApplication application = shared(server.configuration, STRATEGY + "=" + strategy);
		for (int i = 0; i < 3; i++) {
			assertThat(application.get("/api").statusCode()).isEqualTo(200);
		}
		assertThat(application.get("/api", "X-Forwarded-For", "").statusCode()).isEqualTo(429);
	}

	@ParameterizedTest
	@CsvSource({ "TOMCAT, framework, server.forward-headers-strategy=framework",
			"JETTY, framework, server.forward-headers-strategy=framework",
			"JETTY, native, server.forward-headers-strategy=native" })
	void strategyThatTrustsAllClientsIsLogged(Server server, String value, String told, CapturedOutput output) {
		start(server.configuration, STRATEGY + "=" + value).close();
		assertThat(output).contains("Any client can choose the address that it is counted by, because of " + told);
	}

	@Test
	void strategyOfKubernetesIsLoggedOnJetty(CapturedOutput output) {
		start(TestApplication.ServedOnJetty.class, KUBERNETES).close();
		assertThat(output).contains("because of " + STRATEGY
				+ "=native, which Spring Boot sets by itself on the cloud platform KUBERNETES");
	}

	@Test
	void changedProxiesOfTomcatAreLogged(CapturedOutput output) {
		start(TestApplication.Served.class, STRATEGY + "=native", "server.tomcat.remoteip.internal-proxies=.*").close();
		assertThat(output).contains("because of server.tomcat.remoteip.internal-proxies=.*");
	}

	@Test
	void filterOfForwardedHeadersIsLogged(CapturedOutput output) {
		start(FilterBean.class).close();
		assertThat(output).contains("because of the ForwardedHeaderFilter of the bean 'forwardedHeaderFilter'");
		start(Registration.class).close();
		assertThat(output).contains("because of the ForwardedHeaderFilter of the bean 'forwardedRegistration'");
	}

	@Test
	void nothingIsLoggedWhenNoClientIsTrusted(CapturedOutput output) {
		start(TestApplication.Served.class, STRATEGY + "=none").close();
		start(TestApplication.Served.class, KUBERNETES).close();
		start(TestApplication.Served.class, STRATEGY + "=framework", PROXIES).close();
		assertThat(output).doesNotContain("Any client can choose");
	}

	private static void assertForgedIsCountedOnce(TestApplication application, Function<Integer, String> header) {
		for (int i = 1; i <= 25; i++) {
			assertThat(application.get("/api", "X-Forwarded-For", header.apply(i)).statusCode()).as("request %d", i)
				.isEqualTo((i <= 3) ? 200 : 429);
		}
	}

	private static TestApplication shared(Class<?> configuration, String property) {
		return applications.get(configuration, withPolicy(property));
	}

	private static TestApplication start(Class<?> configuration, String... properties) {
		return TestApplication.start(configuration, withPolicy(properties));
	}

	private static String[] withPolicy(String... properties) {
		String[] all = new String[properties.length + 2];
		all[0] = "ratelimit.policies.api.paths=/api";
		all[1] = "ratelimit.policies.api.limits=3/m";
		System.arraycopy(properties, 0, all, 2, properties.length);
		return all;
	}

	enum Server {

		TOMCAT(TestApplication.Served.class), JETTY(TestApplication.ServedOnJetty.class);

		private final Class<?> configuration;

		Server(Class<?> configuration) {
			this.configuration = configuration;
		}

	}

	enum Rewriting {

		TOMCAT_FRAMEWORK(TestApplication.Served.class, STRATEGY + "=framework"),
		JETTY_FRAMEWORK(TestApplication.ServedOnJetty.class, STRATEGY + "=framework"),
		FILTER(FilterBean.class, STRATEGY + "=none"), FILTER_ON_JETTY(JettyFilterBean.class, STRATEGY + "=none"),
		REGISTRATION(Registration.class, STRATEGY + "=none"), OWN(OwnFilter.class, STRATEGY + "=none");

		private final Class<?> configuration;

		private final String property;

		Rewriting(Class<?> configuration, String property) {
			this.configuration = configuration;
			this.property = property;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(TestApplication.Served.class)
	static class FilterBean {

		@Bean
		ForwardedHeaderFilter forwardedHeaderFilter() {
			return new ForwardedHeaderFilter();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ TestApplication.ServedOnJetty.class, FilterBean.class })
	static class JettyFilterBean {

	}

	@Configuration(proxyBeanMethods = false)
	@Import(TestApplication.Served.class)
	static class Registration {

		@Bean
		FilterRegistrationBean<?> forwardedRegistration() {
			FilterRegistrationBean<ForwardedHeaderFilter> registration = new FilterRegistrationBean<>(
					new ForwardedHeaderFilter());
			registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
			return registration;
		}

	}

	/** Believes the first address, and hides the header. */
	@Configuration(proxyBeanMethods = false)
	@Import(TestApplication.Served.class)
	static class OwnFilter {

		@Bean
		FilterRegistrationBean<OncePerRequestFilter> believing() {
			FilterRegistrationBean<OncePerRequestFilter> registration = new FilterRegistrationBean<>(new Believing());
			registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
			return registration;
		}

	}

	private static final class Believing extends OncePerRequestFilter {

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			String header = request.getHeader("X-Forwarded-For");
			chain.doFilter(new HttpServletRequestWrapper(request) {

				@Override
				public String getRemoteAddr() {
					return (header != null) ? header.split(",")[0] : super.getRemoteAddr();
				}

				@Override
				public Enumeration<String> getHeaders(String name) {
					return Collections.emptyEnumeration();
				}

			}, response);
		}

	}

}
