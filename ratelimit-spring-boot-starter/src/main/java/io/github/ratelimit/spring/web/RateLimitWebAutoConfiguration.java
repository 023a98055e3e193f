package io.github.ratelimit.spring.web;

import java.time.InstantSource;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.RejectionHandler;
import io.github.ratelimit.spring.policy.AnnotatedPolicies;
import io.github.ratelimit.spring.policy.PolicyDecisions;
import io.github.ratelimit.spring.policy.PolicyEnforcer;
import io.github.ratelimit.spring.policy.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.policy.RateLimitProperties;
import io.github.ratelimit.spring.policy.RefreshedPolicies;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnNotWarDeployment;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletListenerRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.security.web.FilterChainProxy;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.security.web.header.HeaderWriterFilter;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.filter.PreFlightRequestFilter;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
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

	private static final Logger logger = LoggerFactory.getLogger(RateLimitWebAutoConfiguration.class);

	/** The bean of Spring Security that users log in by. */
	private static final String SECURITY_FILTER = "springSecurityFilterChain";

	/** How far the filter that answers for others stands from the first. */
	private static final int DISTANCE = 10;

	@Bean
	@ConditionalOnMissingBean
	LimitHeaders rateLimitHeaders(RateLimitProperties properties, Environment environment) {
		return LimitHeaders.of(HeaderStyles.read(properties.headers().styles(), environment), InstantSource.system(),
				QuotaUnits.read(properties));
	}

	@Bean
	@ConditionalOnMissingBean
	RequestIdentifiers rateLimitIdentifiers(RateLimitProperties properties, ConfiguredPolicies policies,
			ListableBeanFactory beans, Environment environment) {
		IdentifierReader reader = new IdentifierReader(properties, environment);
		RequestIdentifiers identifiers = reader.readIdentifiers(IdentifierBean.all(beans));
		reader.requireKnown(identifiers, policies);
		return identifiers;
	}

	@Bean
	ForwardingCheck rateLimitForwardingCheck(RateLimitProperties properties, ListableBeanFactory beans,
			Environment environment) {
		return new ForwardingCheck(!properties.ip().trustedProxies().isEmpty(), beans, environment);
	}

	@Bean
	@ConditionalOnMissingBean
	ApplicationCors rateLimitApplicationCors(ObjectProvider<CorsFilters> filters,
			ObjectProvider<HandlerMapping> mappings) {
		return new ApplicationCors(
				(request) -> filters.orderedStream().flatMap((source) -> source.find(request).stream()).toList(),
				() -> mappings.orderedStream().toList());
	}

	@Bean
	@ConditionalOnMissingBean
	Preflights rateLimitPreflights(ObjectProvider<CorsFilters> filters, ObjectProvider<SecurityPreflights> security) {
		return new Preflights(
				(request) -> filters.orderedStream().flatMap((source) -> source.find(request).stream()).toList(),
				security.getIfAvailable(() -> (request) -> Optional.empty()));
	}

	@Bean
	@ConditionalOnMissingBean
	LimitedResponses rateLimitedResponses(LimitHeaders headers, RateLimitProperties properties,
			ObjectProvider<JsonMapper> jsonMapper, ObjectProvider<RejectionHandler> handler, ApplicationCors cors,
			ObjectProvider<SecurityHeaders> security) {
		return new LimitedResponses(headers, RejectionReader.read(properties.rejection(),
				jsonMapper.getIfAvailable(JsonMapper::shared), handler.getIfAvailable()), cors,
				security.getIfAvailable(() -> SecurityHeaders.NONE));
	}

	@Bean
	@ConditionalOnMissingBean
	RequestConditions rateLimitRequestConditions(RateLimitProperties properties) {
		return new RequestConditions(properties.policies());
	}

	@Bean
	@ConditionalOnMissingBean
	AccessLists rateLimitAccessLists(RateLimitProperties properties, RequestIdentifiers identifiers,
			ObjectProvider<RateLimitExemption> exemptions, Environment environment) {
		return new IdentifierReader(properties, environment).readLists(identifiers,
				exemptions.orderedStream().toList());
	}

	@Bean
	@ConditionalOnMissingBean
	UserPlans rateLimitUserPlans(RateLimitProperties properties, ConfiguredPolicies policies,
			ObjectProvider<PlanResolver> resolver, ListableBeanFactory beans, Environment environment) {
		return new PlanReader(properties, policies, environment).read(mayGainPlans(beans), resolver::getObject,
				beans.getBeanNamesForType(PlanResolver.class, true, false));
	}

	/**
	 * Paths need this one; annotations prefer a {@link PolicyEnforcer} of the
	 * application.
	 */
	@Bean
	@ConditionalOnMissingBean
	@Fallback
	ServletPolicyEnforcer rateLimitPolicyEnforcer(PolicyDecisions decisions, RequestIdentifiers identifiers,
			AccessLists lists, RequestConditions conditions, ObjectProvider<RequestCost> cost, UserPlans plans,
			LimitedResponses responses, ListableBeanFactory beans) {
		return new ServletPolicyEnforcer(decisions, identifiers, lists, conditions, cost.getIfAvailable(), plans,
				responses, beans.containsBean(SECURITY_FILTER));
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
	LimitedPaths rateLimitPaths(RateLimitProperties properties, ConfiguredPolicies policies,
			@Qualifier("mvcPatternParser") ObjectProvider<PathPatternParser> parser, Environment environment) {
		return new LimitedPathsReader(properties, policies,
				parser.getIfAvailable(() -> PathPatternParser.defaultInstance), environment)
			.read();
	}

	@Bean
	FilterRegistrationBean<RateLimitFilter> rateLimitFilterBeforeSecurity(ServletPolicyEnforcer enforcer,
			LimitedPaths paths, AccessLists lists, LimitedResponses responses, Preflights preflights,
			RateLimitProperties properties, Environment environment) {
		List<String> limited = names(paths, enforcer::countsBeforeLogin);
		if (lists.allowUsers() && !limited.isEmpty()) {
			logger.warn("Some entries of ratelimit.allow are known only after the login, but the policies {} count"
					+ " before it. What such clients use of them is refunded, but they are denied while it is used up",
					limited);
		}
		FilterRegistrationBean<RateLimitFilter> registration = registration("rateLimitFilterBeforeSecurity",
				FilterOrders.read(properties.filter(), environment).beforeLogin(),
				new RateLimitFilter(enforcer, paths, false, responses, preflights));
		registration.setEnabled(!paths.policies().isEmpty() || lists.needFilter(false));
		return registration;
	}

	@Bean
	FilterRegistrationBean<RateLimitFilter> rateLimitFilterAfterSecurity(ServletPolicyEnforcer enforcer,
			LimitedPaths paths, AccessLists lists, LimitedResponses responses, Preflights preflights,
			RateLimitProperties properties, Environment environment) {
		FilterRegistrationBean<RateLimitFilter> registration = registration("rateLimitFilterAfterSecurity",
				FilterOrders.read(properties.filter(), environment).afterLogin(),
				new RateLimitFilter(enforcer, paths, true, responses, preflights));
		// Policies may need the user only later, when they are refreshed.
		registration.setEnabled(!paths.policies().isEmpty() || lists.needFilter(true));
		return registration;
	}

	@Bean
	CountedTwice rateLimitCountedTwice(LimitedPaths paths, AnnotatedPolicies annotated,
			ObjectProvider<RequestMappingInfoHandlerMapping> mappings) {
		return new CountedTwice(paths, annotated, mappings);
	}

	/** An external container may authenticate users without a filter. */
	@Bean
	@ConditionalOnNotWarDeployment
	UserCheck rateLimitUserCheck(LimitedPaths paths, WebApplicationContext context) {
		return new UserCheck(paths, context);
	}

	@Bean
	ServletListenerRegistrationBean<CostSettlementListener> rateLimitCostSettlementListener(PolicyDecisions decisions) {
		return new ServletListenerRegistrationBean<>(new CostSettlementListener(decisions));
	}

	@Bean
	@ConditionalOnMissingBean
	RateLimitExceededResolver rateLimitExceededResolver(LimitedResponses responses, ApplicationContext context) {
		return new RateLimitExceededResolver(responses, context);
	}

	/**
	 * Runs before all filters that may call methods, but after those that measure
	 * requests and handle failures.
	 */
	@Bean
	FilterRegistrationBean<RateLimitExceededFilter> rateLimitExceededFilter(LimitedResponses responses,
			PolicyDecisions decisions) {
		FilterRegistrationBean<RateLimitExceededFilter> registration = new FilterRegistrationBean<>(
				new RateLimitExceededFilter(responses, decisions));
		registration.setName("rateLimitExceededFilter");
		registration.setOrder(Ordered.HIGHEST_PRECEDENCE + DISTANCE);
		registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC);
		return registration;
	}

	@Bean
	@Order(1)
	CorsFilters rateLimitRegisteredCorsFilters(ListableBeanFactory beans) {
		return new RegisteredCorsFilters(beans);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(FilterChainProxy.class)
	static class SecurityConfiguration {

		@Bean
		@Order(0)
		CorsFilters rateLimitSecurityCorsFilters(ObjectProvider<FilterChainProxy> security) {
			return (request) -> filters(security, request).filter(CorsFilter.class::isInstance).toList();
		}

		/**
		 * The filter writes them when the chain returns, which has nothing to do here.
		 */
		@Bean
		@ConditionalOnMissingBean
		SecurityHeaders rateLimitSecurityHeaders(ObjectProvider<FilterChainProxy> security) {
			return (request, response) -> {
				for (Filter filter : filters(security, request).filter(HeaderWriterFilter.class::isInstance).toList()) {
					filter.doFilter(request, response, (sameRequest, sameResponse) -> {
					});
				}
			};
		}

		/** Filters that come before the CORS filter may look for credentials. */
		@Bean
		@ConditionalOnMissingBean
		SecurityPreflights rateLimitSecurityPreflights(ObjectProvider<FilterChainProxy> security) {
			return (request) -> {
				List<Filter> filters = filters(security, request).toList();
				return filters.isEmpty() ? Optional.empty()
						: filters.stream()
							.filter((filter) -> isOfCors(filter)
									|| !filter.getClass().getName().startsWith("org.springframework.security."))
							.findFirst()
							.map(SecurityConfiguration::isOfCors)
							.or(() -> Optional.of(false));
			};
		}

		private static boolean isOfCors(Filter filter) {
			return filter instanceof CorsFilter || filter instanceof PreFlightRequestFilter;
		}

		@Bean
		SmartInitializingSingleton rateLimitFilterOrderCheck(ListableBeanFactory beans, LimitedPaths paths,
				ServletPolicyEnforcer enforcer, RateLimitProperties properties, Environment environment) {
			return () -> {
				if (!paths.policies().isEmpty()
						&& beans.getBeanNamesForType(FilterChainProxy.class, true, false).length > 0) {
					FilterOrders.read(properties.filter(), environment)
						.requireUsable(names(paths, enforcer::needsUser));
				}
			};
		}

		private static Stream<Filter> filters(ObjectProvider<FilterChainProxy> security, HttpServletRequest request) {
			return security.stream()
				.flatMap((proxy) -> proxy.getFilterChains().stream())
				.filter((chain) -> chain.matches(request))
				.findFirst()
				.stream()
				.flatMap((chain) -> chain.getFilters().stream());
		}

	}

	private static List<String> names(LimitedPaths paths, Predicate<IdentifiedPolicy> included) {
		return paths.policies().stream().filter(included).map((policy) -> policy.policy().name()).toList();
	}

	/** Whether a bean of the application may give policies plans while it runs. */
	private static boolean mayGainPlans(ListableBeanFactory beans) {
		return Arrays.stream(beans.getBeanNamesForType(PolicySource.class, true, false))
			.anyMatch((name) -> !RefreshedPolicies.class.equals(beans.getType(name)));
	}

	private static FilterRegistrationBean<RateLimitFilter> registration(String name, int order,
			RateLimitFilter filter) {
		FilterRegistrationBean<RateLimitFilter> registration = new FilterRegistrationBean<>(filter);
		registration.setName(name);
		registration.setOrder(order);
		registration.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
		return registration;
	}

}
