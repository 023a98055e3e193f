package io.github.ratelimit.spring.autoconfigure;

import java.util.List;

import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.PolicyDecisions;
import io.github.ratelimit.spring.PolicyEnforcer;
import io.github.ratelimit.spring.web.PathPolicy;
import io.github.ratelimit.spring.web.PlanResolver;
import io.github.ratelimit.spring.web.RateLimitExceededResolver;
import io.github.ratelimit.spring.web.RateLimitFilter;
import io.github.ratelimit.spring.web.RequestCostsListener;
import io.github.ratelimit.spring.web.ServletPolicyEnforcer;
import jakarta.servlet.DispatcherType;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletListenerRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Fallback;
import org.springframework.core.env.Environment;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Auto-configuration of rate limiting for Servlet applications.
 *
 * @since 0.1
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class,
		afterName = "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration")
@ConditionalOnWebApplication(type = Type.SERVLET)
@ConditionalOnClass(DispatcherServlet.class)
@ConditionalOnBooleanProperty(name = "ratelimit.enabled", matchIfMissing = true)
public final class RateLimitWebAutoConfiguration {

	/** Order of Spring Security's filter chain, unless it is configured. */
	private static final int SECURITY = -100;

	/** How far before and after it the limits stand. */
	private static final int DISTANCE = 10;

	/**
	 * Paths need this one; annotations prefer a {@link PolicyEnforcer} of the
	 * application.
	 */
	@Bean
	@ConditionalOnMissingBean
	@Fallback
	ServletPolicyEnforcer rateLimitPolicyEnforcer(PolicyDecisions decisions, RateLimitProperties properties,
			ConfiguredPolicies policies, ObjectProvider<JsonMapper> jsonMapper, Environment environment,
			ObjectProvider<PlanResolver> planResolver, ListableBeanFactory beans) {
		ServletPolicyEnforcer enforcer = new ServletPolicyEnforcer(decisions, properties.headers().styles(),
				jsonMapper.getIfAvailable(JsonMapper::shared), new PlanReader(properties, policies)
					.read(planResolver::getObject, beans.getBeanNamesForType(PlanResolver.class, true, false)));
		requireKnown(enforcer, environment, "ratelimit.default-identifiers", policies.defaultIdentifiers());
		policies.policies()
			.forEach((name, policy) -> requireKnown(enforcer, environment, PolicyReader.property(name, ".identifiers"),
					policy.identifiers()));
		return enforcer;
	}

	private static void requireKnown(ServletPolicyEnforcer enforcer, Environment environment, String property,
			List<String> identifiers) {
		for (int i = 0; i < identifiers.size(); i++) {
			try {
				enforcer.requireKnown(identifiers.get(i));
			}
			catch (IllegalArgumentException ex) {
				throw new InvalidConfigurationPropertyValueException(
						new ListPropertyNames(environment).element(property, i), identifiers.get(i), ex.getMessage(),
						ex);
			}
		}
	}

	/**
	 * Creates the resolver, which the enforcer does only with the first request: it may
	 * depend on beans whose methods are limited.
	 */
	@Bean
	SmartInitializingSingleton rateLimitPlanResolverCheck(ObjectProvider<PlanResolver> planResolver) {
		return () -> planResolver.ifAvailable((resolver) -> {
		});
	}

	@Bean
	FilterRegistrationBean<RateLimitFilter> rateLimitFilterBeforeSecurity(ServletPolicyEnforcer enforcer,
			RateLimitProperties properties, ConfiguredPolicies policies,
			@Qualifier("mvcPatternParser") ObjectProvider<PathPatternParser> parser, Environment environment) {
		return registration("rateLimitFilterBeforeSecurity", orderBesideSecurity(environment, -DISTANCE), enforcer,
				pathPolicies(properties, policies, parser, environment).stream()
					.filter((policy) -> !policy.needsUser())
					.toList());
	}

	@Bean
	FilterRegistrationBean<RateLimitFilter> rateLimitFilterAfterSecurity(ServletPolicyEnforcer enforcer,
			RateLimitProperties properties, ConfiguredPolicies policies,
			@Qualifier("mvcPatternParser") ObjectProvider<PathPatternParser> parser, Environment environment) {
		return registration("rateLimitFilterAfterSecurity", orderBesideSecurity(environment, DISTANCE), enforcer,
				pathPolicies(properties, policies, parser, environment).stream()
					.filter(PathPolicy::needsUser)
					.toList());
	}

	@Bean
	ServletListenerRegistrationBean<RequestCostsListener> rateLimitRequestCostsListener(PolicyDecisions decisions) {
		return new ServletListenerRegistrationBean<>(new RequestCostsListener(decisions));
	}

	@Bean
	@ConditionalOnMissingBean
	RateLimitExceededResolver rateLimitExceededResolver(ServletPolicyEnforcer enforcer) {
		return new RateLimitExceededResolver(enforcer);
	}

	private static List<PathPolicy> pathPolicies(RateLimitProperties properties, ConfiguredPolicies policies,
			ObjectProvider<PathPatternParser> parser, Environment environment) {
		return new PolicyReader(properties, environment).readPathPolicies(policies,
				parser.getIfAvailable(() -> PathPatternParser.defaultInstance));
	}

	private static int orderBesideSecurity(Environment environment, int distance) {
		int security = Binder.get(environment).bind("spring.security.filter.order", Integer.class).orElse(SECURITY);
		return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, (long) security + distance));
	}

	private static FilterRegistrationBean<RateLimitFilter> registration(String name, int order,
			ServletPolicyEnforcer enforcer, List<PathPolicy> policies) {
		FilterRegistrationBean<RateLimitFilter> registration = new FilterRegistrationBean<>(
				new RateLimitFilter(enforcer, policies));
		registration.setName(name);
		registration.setOrder(order);
		registration.setDispatcherTypes(DispatcherType.REQUEST);
		registration.setEnabled(!policies.isEmpty());
		return registration;
	}

}
