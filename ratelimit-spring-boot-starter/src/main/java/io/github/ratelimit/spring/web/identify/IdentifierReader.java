package io.github.ratelimit.spring.web.identify;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.config.ForwardedHeader;
import io.github.ratelimit.spring.config.HiddenValueException;
import io.github.ratelimit.spring.config.InvalidBeanException;
import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.config.PolicySettings;
import io.github.ratelimit.spring.config.RateLimitProperties;
import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.decide.NearestNames;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import io.github.ratelimit.spring.web.address.AddressResolver;
import io.github.ratelimit.spring.web.address.TrustedProxies;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Reads identifiers and lists of clients from properties. Errors name the property and
 * its value.
 */
public final class IdentifierReader {

	private static final String PROXIES = "ratelimit.ip.trusted-proxies";

	private static final String STRATEGY = "server.forward-headers-strategy";

	/** The last two enable the valve of Tomcat, whatever the strategy is. */
	private static final List<String> READ_BY_SERVER = List.of(STRATEGY, "server.tomcat.remoteip.remote-ip-header",
			"server.tomcat.remoteip.protocol-header");

	private final RateLimitProperties properties;

	private final Environment environment;

	public IdentifierReader(RateLimitProperties properties, Environment environment) {
		this.properties = properties;
		this.environment = environment;
	}

	/**
	 * Reads the identifiers.
	 * @param beans may have resolvers, whose identifiers have the names of their beans
	 */
	public RequestIdentifiers readIdentifiers(ListableBeanFactory beans) {
		Map<String, IdentifierKind> own = new HashMap<>();
		for (String name : beans.getBeanNamesForType(IdentifierResolver.class, true, false)) {
			if (!ScopedProxyUtils.isScopedTarget(name)) {
				// It may depend on limited methods, which depend on identifiers.
				own.put(requireUsable(name), IdentifierKind.own(name,
						SingletonSupplier.of(() -> beans.getBean(name, IdentifierResolver.class))));
			}
		}
		this.properties.identifiers().forEach((name, expression) -> {
			String property = "ratelimit.identifiers." + name;
			IdentifierKind kind = PolicyReader.read(property, expression, () -> IdentifierKind
				.own(IdentifierNames.requireUsable(name), RequestExpression.ofIdentifier(expression)));
			if (own.put(name, kind) != null) {
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
		TrustedProxies proxies = readProxies(ip.trustedProxies(), ip.forwardedHeader());
		return PolicyReader.read("ratelimit.ip.ipv6-prefix", ip.ipv6Prefix(),
				() -> new AddressResolver(ip.ipv6Prefix(), proxies));
	}

	private @Nullable TrustedProxies readProxies(List<String> blocks, @Nullable ForwardedHeader configured) {
		if (blocks.isEmpty()) {
			if (configured != null) {
				throw new InvalidConfigurationPropertyValueException("ratelimit.ip.forwarded-header", configured,
						"Counts only with %s: name the proxies.".formatted(PROXIES));
			}
			return null;
		}
		requireAddressesOfConnections();
		ForwardedHeader header = (configured != null) ? configured : ForwardedHeader.X_FORWARDED_FOR;
		PolicyReader.readEach(PROXIES, blocks, (block) -> new TrustedProxies(List.of(block), header));
		return PolicyReader.read(PROXIES, blocks, () -> new TrustedProxies(blocks, header));
	}

	/** Refuses a server that replaces addresses by those of headers. */
	private void requireAddressesOfConnections() {
		CloudPlatform platform = CloudPlatform.getActive(this.environment);
		for (String property : READ_BY_SERVER) {
			boolean strategy = property.equals(STRATEGY);
			String value = Binder.get(this.environment).bind(property, String.class).orElse(null);
			boolean ofPlatform = strategy && value == null && platform != null && platform.isUsingForwardHeaders();
			if (ofPlatform || (strategy ? "native".equalsIgnoreCase(value) : StringUtils.hasText(value))) {
				throw new InvalidConfigurationPropertyValueException(property, ofPlatform ? "native" : value,
						"The server then replaces addresses by what a header says, before %s can be looked at, so that clients could choose by which address they are counted: %sset %s to none, or to framework if links are made of these headers.%s"
							.formatted(PROXIES, strategy ? "" : "remove it, and ", STRATEGY, ofPlatform
									? " Spring Boot sets it by itself on the cloud platform %s.".formatted(platform)
									: ""));
			}
		}
	}

	/** Reads the lists of clients that are never limited or always denied. */
	public AccessLists readLists(RequestIdentifiers identifiers, List<RateLimitExemption> exemptions) {
		AccessLists lists = new AccessLists(identifiers, exemptions);
		readEntries("ratelimit.allow", this.properties.allow(), lists::allow);
		readEntries("ratelimit.deny", this.properties.deny(), lists::deny);
		return lists;
	}

	private void readEntries(String property, List<String> entries, Consumer<String> list) {
		for (String entry : entries) {
			try {
				list.accept(entry);
			}
			catch (IllegalArgumentException ex) {
				throw new HiddenValueException(property, IdentifierNames.withoutSecret(entry),
						String.valueOf(ex.getMessage()));
			}
		}
	}

	/** Rejects identifiers of policies that requests cannot have. */
	public void requireKnown(RequestIdentifiers identifiers, ConfiguredPolicies policies) {
		ConfiguredPolicies.Defaults defaults = policies.defaults();
		PolicyReader.readEach("ratelimit.defaults.identifiers", defaults.identifiers(), identifiers::requireKnown);
		requireFallback("ratelimit.defaults.missing-identifier", defaults.enforcement(), identifiers);
		policies.policies().forEach((name, policy) -> {
			boolean limitsPaths = limitsPaths(name);
			PolicyReader.readEach(PolicyReader.property(name, ".identifiers"), policy.identifiers(),
					(identifier) -> (limitsPaths || !IdentifierNames.isOfCode(identifier))
							? identifiers.requireKnown(identifier) : identifier);
			requireFallback(PolicyReader.property(name, ".missing-identifier"), policy.enforcement(), identifiers);
		});
	}

	private boolean limitsPaths(String policy) {
		PolicySettings configured = this.properties.policies().get(policy);
		return configured != null && !(configured.paths().isEmpty() && configured.routes().isEmpty());
	}

	private static void requireFallback(String property, Enforcement enforcement, RequestIdentifiers identifiers) {
		if (enforcement.missing() instanceof MissingIdentifier.Fallback fallback) {
			String name = fallback.identifier();
			try {
				identifiers.requireKnown(name);
			}
			catch (IllegalArgumentException ex) {
				throw new InvalidConfigurationPropertyValueException(property, name,
						"Must be skip, deny, or an identifier.%s %s".formatted(
								NearestNames.question(name,
										List.of(MissingIdentifier.SKIP.toString(), MissingIdentifier.DENY.toString())),
								ex.getMessage()));
			}
		}
	}

}
