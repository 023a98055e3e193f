package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import inet.ipaddr.IPAddressString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.web.filter.ForwardedHeaderFilter;

/**
 * Logs a warning at startup if clients can choose the address that they are counted by,
 * because the server or a filter trusts the headers of all clients.
 */
final class ForwardingCheck implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(ForwardingCheck.class);

	/** Trusts every connection, and the first address in the header. */
	private static final String JETTY = "org.springframework.boot.jetty.servlet.JettyServletWebServerFactory";

	/** Clients whose headers Tomcat trusts: private addresses, unless configured. */
	private static final List<String> PROXIES_OF_TOMCAT = List.of("server.tomcat.remoteip.internal-proxies",
			"server.tomcat.remoteip.trusted-proxies");

	/** First parts of addresses that are private or of this machine. */
	private static final Set<Integer> PRIVATE = Set.of(10, 127);

	/**
	 * Addresses that are nobody's proxy, as Tomcat writes them: in each large part of the
	 * Internet there is one.
	 */
	private static final List<String> STRANGERS = Stream.concat(
			Stream.of("192.0.2.1", "198.51.100.77", "203.0.113.250", "2001:db8:0:0:0:0:0:1",
					"2600:fff:ffff:ffff:ffff:ffff:ffff:ffff", "2a00:fff:ffff:ffff:ffff:ffff:ffff:ffff",
					"3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
			IntStream.rangeClosed(1, 223)
				.filter((part) -> !PRIVATE.contains(part))
				.mapToObj((part) -> part + ".250.13.201"))
		.toList();

	private final boolean proxies;

	private final ListableBeanFactory beans;

	private final Environment environment;

	/**
	 * Creates a check.
	 * @param proxies whether trusted proxies are configured
	 */
	ForwardingCheck(boolean proxies, ListableBeanFactory beans, Environment environment) {
		this.proxies = proxies;
		this.beans = beans;
		this.environment = environment;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (!this.proxies) {
			ServerForwarding.find(this.environment).map(this::ofServer).ifPresent(this::warnOfServer);
			String filter = filter();
			if (filter != null) {
				warn(filter, "");
			}
		}
	}

	/** Returns the setting by which a server trusts any client; null if it does not. */
	private @Nullable String ofServer(ServerForwarding forwarding) {
		if (isJetty()) {
			return forwarding.property().equals(ServerForwarding.STRATEGY) ? forwarding.toString() : null;
		}
		return PROXIES_OF_TOMCAT.stream()
			.filter((property) -> trustsStrangers(ServerForwarding.text(property, this.environment)))
			.map((property) -> property + "=" + ServerForwarding.text(property, this.environment))
			.findFirst()
			.orElse(null);
	}

	/**
	 * Returns whether a setting contains addresses that are nobody's proxy. As for
	 * Tomcat, it is a list of blocks if it has a slash, else a regular expression.
	 */
	private static boolean trustsStrangers(@Nullable String proxies) {
		if (proxies == null) {
			return false;
		}
		if (proxies.indexOf('/') > 0) {
			return Arrays.stream(proxies.split(","))
				.map((block) -> new IPAddressString(block.strip()).getAddress())
				.anyMatch((block) -> block != null && STRANGERS.stream()
					.anyMatch((address) -> block.toPrefixBlock().contains(new IPAddressString(address).getAddress())));
		}
		try {
			return STRANGERS.stream().anyMatch(Pattern.compile(proxies).asMatchPredicate());
		}
		catch (PatternSyntaxException ex) {
			// Tomcat does not start with it.
			return false;
		}
	}

	private boolean isJetty() {
		ClassLoader loader = getClass().getClassLoader();
		return ClassUtils.isPresent(JETTY, loader)
				&& this.beans.getBeanNamesForType(ClassUtils.resolveClassName(JETTY, loader), true, false).length > 0;
	}

	private @Nullable String filter() {
		List<String> names = new ArrayList<>(
				List.of(this.beans.getBeanNamesForType(ForwardedHeaderFilter.class, true, false)));
		for (Map.Entry<String, ?> bean : this.beans.getBeansOfType(FilterRegistrationBean.class).entrySet()) {
			if (bean.getValue() instanceof FilterRegistrationBean<?> registration && registration.isEnabled()
					&& registration.getFilter() instanceof ForwardedHeaderFilter) {
				names.add(bean.getKey());
			}
		}
		if (names.isEmpty()) {
			return null;
		}
		return ServerForwarding.isFramework(this.environment) ? ServerForwarding.STRATEGY + "=framework"
				: "the ForwardedHeaderFilter of the bean '%s'".formatted(names.get(0));
	}

	private void warnOfServer(String reason) {
		warn(reason, ", and set " + ServerForwarding.STRATEGY + " to none");
	}

	private static void warn(String reason, String more) {
		logger.warn("Any client can choose the address that it is counted by, because of {}. Name your proxies in"
				+ " ratelimit.ip.trusted-proxies{}", reason, more);
	}

}
