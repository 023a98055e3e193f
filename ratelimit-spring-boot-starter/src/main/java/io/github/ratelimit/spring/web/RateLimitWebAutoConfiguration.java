package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.github.ratelimit.spring.LimitHeaders;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.RejectionHandler;
import io.github.ratelimit.spring.SecurityFilters;
import io.github.ratelimit.spring.config.AnnotatedPolicies;
import io.github.ratelimit.spring.config.DeclaredPolicies;
import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.config.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitProperties;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.ListedPlans;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.decide.UnknownPolicyHandler;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.ResponseCondition;
import io.github.ratelimit.spring.web.answer.Rejections;
import io.github.ratelimit.spring.web.answer.StatusHeaders;
import io.github.ratelimit.spring.web.answer.UncaughtDenials;
import io.github.ratelimit.spring.web.cors.ApplicationCors;
import io.github.ratelimit.spring.web.cors.SpringSecurityFilters;
import io.github.ratelimit.spring.web.identify.AccessLists;
import io.github.ratelimit.spring.web.identify.IdentifierReader;
import io.github.ratelimit.spring.web.identify.RequestConditions;
import io.github.ratelimit.spring.web.identify.RequestIdentifiers;
import io.github.ratelimit.spring.web.identify.RequestMetadata;
import io.github.ratelimit.spring.web.identify.UserPlans;
import io.github.ratelimit.spring.web.path.LimitedPaths;
import io.github.ratelimit.spring.web.path.UnservedPaths;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.security.web.FilterChainProxy;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerMapping;
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
@Import(UncaughtDenials.class)
public final class RateLimitWebAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitWebAutoConfiguration.class);

	private static final ResponseCondition UNAUTHORIZED = ResponseCondition.parse("status in [401]");

	/** Distance of the outermost filter from the first order. */
	private static final int DISTANCE = 10;

	@Bean
	@ConditionalOnMissingBean
	LimitHeaders rateLimitHeaders(RateLimitProperties properties) {
		return StatusHeaders.read(properties);
	}

	@Bean
	RequestIdentifiers rateLimitIdentifiers(RateLimitProperties properties, ConfiguredPolicies policies,
			ListableBeanFactory beans, Environment environment) {
		IdentifierReader reader = new IdentifierReader(properties, environment);
		RequestIdentifiers identifiers = reader.readIdentifiers(beans);
		reader.requireKnown(identifiers, policies);
		return identifiers;
	}

	@Bean
	ApplicationCors rateLimitApplicationCors(ObjectProvider<SecurityFilters> security, ListableBeanFactory beans) {
		return new ApplicationCors(security.getIfAvailable(() -> SecurityFilters.NONE), beans);
	}

	@Bean
	LimitedResponses rateLimitedResponses(LimitHeaders headers, RateLimitProperties properties,
			ObjectProvider<JsonMapper> jsonMapper, ObjectProvider<RejectionHandler> handler, UncaughtDenials denials,
			ApplicationCors cors, ObjectProvider<SecurityFilters> security) {
		Rejections rejections = new Rejections(properties.rejection(), jsonMapper.getIfAvailable(JsonMapper::shared),
				handler.getIfAvailable(), denials);
		return new LimitedResponses(headers, rejections, cors, security.getIfAvailable(() -> SecurityFilters.NONE));
	}

	@Bean
	RequestConditions rateLimitRequestConditions(RateLimitProperties properties, DeclaredPolicies declared) {
		return new RequestConditions(properties.policies(), declared::condition);
	}

	@Bean
	RequestMetadata rateLimitRequestMetadata(RateLimitProperties properties) {
		return new RequestMetadata(properties.policies(), () -> {
			ServletRequestAttributes served = RateLimitExceededFilter.currentRequest();
			return (served != null) ? served.getRequest() : null;
		});
	}

	@Bean
	AccessLists rateLimitAccessLists(RateLimitProperties properties, RequestIdentifiers identifiers,
			ObjectProvider<RateLimitExemption> exemptions, Environment environment) {
		return new IdentifierReader(properties, environment).readLists(identifiers,
				exemptions.orderedStream().toList());
	}

	@Bean
	UserPlans rateLimitUserPlans(RateLimitProperties properties, ConfiguredPolicies policies, ListedPlans listed,
			ListableBeanFactory beans) {
		return UserPlans.read(properties, policies, listed::look, beans);
	}

	@Bean
	RequestCharges rateLimitRequestCharges(Decider decider, RequestIdentifiers identifiers, AccessLists lists,
			RequestConditions conditions, ObjectProvider<RequestCost> cost, UserPlans plans) {
		return new RequestCharges(decider, identifiers, lists, conditions, cost.getIfAvailable(), plans);
	}

	/** A {@link PolicyEnforcer} of the application takes its place. */
	@Bean
	@Fallback
	ServletPolicyEnforcer rateLimitPolicyEnforcer(Decider decider, RequestCharges charges,
			RequestIdentifiers identifiers, LimitHeaders headers) {
		return new ServletPolicyEnforcer(decider, charges, identifiers, headers);
	}

	/**
	 * Creates it before the first request, but late: it may depend on limited methods.
	 */
	@Bean
	SmartInitializingSingleton rateLimitPlanResolverCheck(ObjectProvider<PlanResolver> planResolver) {
		return () -> planResolver.getIfAvailable();
	}

	@Bean
	LimitedPaths rateLimitPaths(RateLimitProperties properties, ConfiguredPolicies policies,
			@Qualifier("mvcPatternParser") ObjectProvider<PathPatternParser> parser, Environment environment) {
		return new LimitedPaths(properties, policies, parser.getIfAvailable(() -> PathPatternParser.defaultInstance),
				environment);
	}

	@Bean
	FilterOrders rateLimitFilterOrders(RateLimitProperties properties, Environment environment) {
		return FilterOrders.read(properties.filter(), environment);
	}

	@Bean
	FilterRegistrationBean<RateLimitFilter> rateLimitFilterBeforeSecurity(RequestCharges charges, Decider decider,
			LimitedPaths paths, AccessLists lists, LimitedResponses responses, FilterOrders orders) {
		return registration("rateLimitFilterBeforeSecurity", orders.beforeLogin(), EnumSet.allOf(DispatcherType.class),
				new RateLimitFilter(charges, decider, paths, responses),
				!paths.policies().isEmpty() || lists.needFilter(false));
	}

	/** Has all policies, because those that a refresh changes may need the user. */
	@Bean
	FilterRegistrationBean<RateLimitFilter> rateLimitFilterAfterSecurity(RequestCharges charges, Decider decider,
			LimitedPaths paths, AccessLists lists, LimitedResponses responses, FilterOrders orders) {
		return registration("rateLimitFilterAfterSecurity", orders.afterLogin(), EnumSet.allOf(DispatcherType.class),
				new RateLimitFilter(charges, decider, null, responses),
				!paths.policies().isEmpty() || lists.needFilter(true));
	}

	/** Runs before all filters that may call methods, but after those that measure. */
	@Bean
	FilterRegistrationBean<RateLimitExceededFilter> rateLimitExceededFilter(LimitedResponses responses, Decider decider,
			RequestCharges charges) {
		return registration("rateLimitExceededFilter", Ordered.HIGHEST_PRECEDENCE + DISTANCE,
				EnumSet.complementOf(EnumSet.of(DispatcherType.INCLUDE)),
				new RateLimitExceededFilter(responses, decider, charges::capture), true);
	}

	private static <T extends Filter> FilterRegistrationBean<T> registration(String name, int order,
			EnumSet<DispatcherType> types, T filter, boolean enabled) {
		FilterRegistrationBean<T> registration = new FilterRegistrationBean<>(filter);
		registration.setName(name);
		registration.setOrder(order);
		registration.setDispatcherTypes(types);
		registration.setEnabled(enabled);
		return registration;
	}

	@Bean
	RateLimitExceededResolver rateLimitExceededResolver(LimitedResponses responses, ListableBeanFactory beans) {
		return new RateLimitExceededResolver(responses, beans);
	}

	@Bean
	UnservedPaths rateLimitUnservedPaths(LimitedPaths paths, ObjectProvider<HandlerMapping> mappings,
			WebApplicationContext context) {
		return new UnservedPaths(paths, () -> LoginFilters.exist(context), mappings, context);
	}

	/**
	 * Warns of policies that count only failed logins, but by users only, or with plans:
	 * what refuses a login answers before there is a user. A handler may answer 401 too.
	 */
	@Bean
	SmartInitializingSingleton rateLimitUncountedLogins(RequestIdentifiers identifiers, LimitedPaths paths,
			WebApplicationContext context) {
		return () -> paths.policies().forEach((policy) -> {
			boolean plans = !policy.plans().isEmpty();
			if (UNAUTHORIZED.equals(policy.enforcement().countWhen()) && LoginFilters.exist(context)
					&& (plans || policy.identifiers().stream().allMatch(identifiers::needsUser))) {
				String name = policy.policy().name();
				logger.warn(
						"The policy '{}' does not count what Spring Security or another filter answers with 401, because there is no user yet. {}",
						name, plans ? "Count that by a second policy, which has no plans"
								: "Add ip to " + PolicyReader.property(name, ".identifiers"));
			}
		});
	}

	@Bean
	SettledPolicies rateLimitSettledPolicies(ConfiguredPolicies policies, AnnotatedPolicies annotated,
			ObjectProvider<UnknownPolicyHandler> handler) {
		return new SettledPolicies(() -> {
			Set<String> names = new HashSet<>(policies.policies().keySet());
			annotated.byPlace()
				.values()
				.forEach((found) -> found.forEach((policy) -> names.add(policy.policy().name())));
			return names;
		}, handler.getIfAvailable(SettledPolicies::log));
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(FilterChainProxy.class)
	static class SecurityConfiguration {

		@Bean
		@ConditionalOnMissingBean
		SecurityFilters rateLimitSecurityFilters(ObjectProvider<FilterChainProxy> proxies) {
			return new SpringSecurityFilters(proxies);
		}

		@Bean
		SmartInitializingSingleton rateLimitFilterOrderCheck(ListableBeanFactory beans, LimitedPaths paths,
				RequestCharges charges, FilterOrders orders) {
			return () -> {
				if (beans.getBeanNamesForType(FilterChainProxy.class, true, false).length > 0) {
					orders.requireAfterSecurity(paths.policies()
						.stream()
						.filter(charges::needsUser)
						.map((policy) -> policy.policy().name())
						.toList());
				}
			};
		}

	}

	/**
	 * Warns of policies that limit the health endpoint, which probes of the application's
	 * platform call: a probe that is denied may end the application.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ PathMappedEndpoints.class, ManagementPortType.class })
	static class ProbesConfiguration {

		private static final EndpointId HEALTH = EndpointId.of("health");

		@Bean
		SmartInitializingSingleton rateLimitLimitedProbes(LimitedPaths paths,
				ObjectProvider<PathMappedEndpoints> endpoints, Environment environment) {
			return () -> endpoints.ifAvailable((found) -> {
				Map<String, List<String>> limited = new TreeMap<>();
				for (String probe : probes(found, environment)) {
					paths.denying(probe)
						.forEach((policy) -> limited.computeIfAbsent(policy, (key) -> new ArrayList<>()).add(probe));
				}
				if (!limited.isEmpty()) {
					logger.warn("Policies limit probes of the application's health, which may be denied, and the"
							+ " application ended for it, unless a condition, an exemption or ratelimit.allow spares them: {}. Name"
							+ " these paths in ratelimit.exclude, or give the actuator another port,"
							+ " management.server.port", limited);
				}
			});
		}

		private static List<String> probes(PathMappedEndpoints endpoints, Environment environment) {
			List<String> probes = new ArrayList<>(endpoints.getAdditionalPaths(WebServerNamespace.SERVER, HEALTH));
			String health = endpoints.getPath(HEALTH);
			if (health != null && ManagementPortType.get(environment) == ManagementPortType.SAME) {
				probes.addAll(List.of(health, health + "/liveness", health + "/readiness"));
			}
			return probes;
		}

	}

}
