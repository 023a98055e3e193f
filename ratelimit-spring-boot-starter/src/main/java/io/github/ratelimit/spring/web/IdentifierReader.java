package io.github.ratelimit.spring.web;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.Enforcement;
import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.MissingIdentifier;
import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.policy.ForwardedHeader;
import io.github.ratelimit.spring.policy.HiddenValueException;
import io.github.ratelimit.spring.policy.IdentifierNames;
import io.github.ratelimit.spring.policy.InvalidBeanException;
import io.github.ratelimit.spring.policy.ListPropertyNames;
import io.github.ratelimit.spring.policy.NearestNames;
import io.github.ratelimit.spring.policy.PolicyReader;
import io.github.ratelimit.spring.policy.RateLimitProperties;
import io.github.ratelimit.spring.policy.RateLimitProperties.PolicyProperties;
import io.github.ratelimit.spring.web.address.AddressResolver;
import io.github.ratelimit.spring.web.address.TrustedProxies;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;
import org.springframework.util.function.SingletonSupplier;

/**
 * Reads identifiers and lists of clients from properties. Reports errors with the name
 * and the value of the property.
 */
final class IdentifierReader {

	private static final String PROXIES = "ratelimit.ip.trusted-proxies";

	private final RateLimitProperties properties;

	private final Environment environment;

	private final ListPropertyNames names;

	IdentifierReader(RateLimitProperties properties, Environment environment) {
		this.properties = properties;
		this.environment = environment;
		this.names = new ListPropertyNames(environment);
	}

	/**
	 * Reads the identifiers.
	 * @param beans may have resolvers, whose identifiers have the names of their beans
	 */
	RequestIdentifiers readIdentifiers(ListableBeanFactory beans) {
		Map<String, IdentifierResolver> own = new HashMap<>();
		for (String name : beans.getBeanNamesForType(IdentifierResolver.class, true, false)) {
			if (!ScopedProxyUtils.isScopedTarget(name)) {
				own.put(requireUsable(name),
						new LazyResolver(SingletonSupplier.of(() -> beans.getBean(name, IdentifierResolver.class))));
			}
		}
		this.properties.identifiers().forEach((name, expression) -> {
			String property = "ratelimit.identifiers." + name;
			PolicyReader.read(property, expression, () -> IdentifierNames.requireUsable(name));
			IdentifierResolver resolver = PolicyReader.read(property, expression,
					() -> new ExpressionResolver(expression));
			if (own.put(name, resolver) != null) {
				throw new InvalidConfigurationPropertyValueException(property, expression,
						"There is a bean of type IdentifierResolver with the name '%s' as well: remove one of them."
							.formatted(name));
			}
		});
		return new RequestIdentifiers(readAddresses(), own);
	}

	private static String requireUsable(String bean) {
		try {
			return IdentifierNames.requireUsable(bean);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidBeanException(bean, IdentifierResolver.class, ex);
		}
	}

	private AddressResolver readAddresses() {
		RateLimitProperties.Ip ip = this.properties.ip();
		TrustedProxies proxies = readProxies(ip);
		return PolicyReader.read("ratelimit.ip.ipv6-prefix", ip.ipv6Prefix(),
				() -> new AddressResolver(ip.ipv6Prefix(), proxies, !isForwardingConfigured()));
	}

	private @Nullable TrustedProxies readProxies(RateLimitProperties.Ip ip) {
		List<String> blocks = ip.trustedProxies();
		if (blocks.isEmpty()) {
			if (ip.forwardedHeader() != null) {
				throw new InvalidConfigurationPropertyValueException("ratelimit.ip.forwarded-header",
						ip.forwardedHeader(), "Counts only with %s: name the proxies.".formatted(PROXIES));
			}
			return null;
		}
		ServerForwarding.find(this.environment).ifPresent((forwarding) -> {
			throw forwarding.beside(PROXIES);
		});
		ForwardedHeader header = (ip.forwardedHeader() != null) ? ip.forwardedHeader()
				: ForwardedHeader.X_FORWARDED_FOR;
		readEach(PROXIES, blocks, (block) -> new TrustedProxies(List.of(block), header));
		return PolicyReader.read(PROXIES, blocks, () -> new TrustedProxies(blocks, header));
	}

	/** Returns whether the server or Spring reads forwarded headers. */
	private boolean isForwardingConfigured() {
		return ServerForwarding.isFramework(this.environment) || ServerForwarding.find(this.environment).isPresent();
	}

	/** Reads the lists of clients that are never limited or always denied. */
	AccessLists readLists(RequestIdentifiers identifiers, List<RateLimitExemption> exemptions) {
		requireEntries("ratelimit.allow", this.properties.allow(), identifiers);
		requireEntries("ratelimit.deny", this.properties.deny(), identifiers);
		return new AccessLists(this.properties.allow(), this.properties.deny(), identifiers, exemptions);
	}

	private void requireEntries(String property, List<String> entries, RequestIdentifiers identifiers) {
		for (int i = 0; i < entries.size(); i++) {
			String entry = entries.get(i);
			try {
				new AccessLists(List.of(entry), List.of(), identifiers, List.of());
			}
			catch (IllegalArgumentException ex) {
				throw new HiddenValueException(this.names.element(property, i), IdentifierNames.withoutSecret(entry),
						String.valueOf(ex.getMessage()));
			}
		}
	}

	/** Rejects identifiers of policies that requests cannot have. */
	void requireKnown(RequestIdentifiers identifiers, ConfiguredPolicies policies) {
		readEach("ratelimit.defaults.identifiers", policies.defaults().identifiers(), identifiers::requireKnown);
		requireFallback("ratelimit.defaults.missing-identifier", policies.defaults().enforcement(), identifiers);
		policies.policies().forEach((name, policy) -> {
			boolean limitsPaths = limitsPaths(name);
			readEach(PolicyReader.property(name, ".identifiers"), policy.identifiers(), (identifier) -> {
				if (limitsPaths || !IdentifierNames.isOfCode(identifier)) {
					identifiers.requireKnown(identifier);
				}
			});
			requireFallback(PolicyReader.property(name, ".missing-identifier"), policy.enforcement(), identifiers);
		});
	}

	private boolean limitsPaths(String policy) {
		PolicyProperties configured = this.properties.policies().get(policy);
		return configured != null && !(configured.paths().isEmpty() && configured.routes().isEmpty());
	}

	private static void requireFallback(String property, Enforcement enforcement, RequestIdentifiers identifiers) {
		if (enforcement.missing() instanceof MissingIdentifier.Fallback fallback) {
			read(property, fallback.identifier(), () -> requireFallback(fallback.identifier(), identifiers));
		}
	}

	private static void requireFallback(String name, RequestIdentifiers identifiers) {
		try {
			identifiers.requireKnown(name);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException("Must be skip, deny, or an identifier.%s %s".formatted(
					NearestNames.question(name,
							List.of(MissingIdentifier.SKIP.toString(), MissingIdentifier.DENY.toString())),
					ex.getMessage()), ex);
		}
	}

	private void readEach(String property, List<String> values, Consumer<String> reader) {
		for (int i = 0; i < values.size(); i++) {
			String value = values.get(i);
			read(this.names.element(property, i), value, () -> reader.accept(value));
		}
	}

	private static void read(String property, String value, Runnable reader) {
		PolicyReader.read(property, value, () -> {
			reader.run();
			return value;
		});
	}

	/**
	 * A resolver that is created when it is first used: it may depend on beans with
	 * limited methods, which in turn depend on the identifiers.
	 */
	private record LazyResolver(SingletonSupplier<IdentifierResolver> bean) implements IdentifierResolver {

		@Override
		public @Nullable String resolve(HttpServletRequest request) {
			return this.bean.obtain().resolve(request);
		}

		@Override
		public boolean needsUser() {
			return this.bean.obtain().needsUser();
		}

	}

}
