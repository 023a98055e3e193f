package io.github.ratelimit.spring.web;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Predicate;

import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.RejectionHandler;
import io.github.ratelimit.spring.policy.AnnotatedPolicies;
import io.github.ratelimit.spring.policy.DeclaredPolicies;
import io.github.ratelimit.spring.policy.PolicyDecisions;
import io.github.ratelimit.spring.policy.PolicyEnforcer;
import io.github.ratelimit.spring.policy.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.policy.RateLimitProperties;
import io.github.ratelimit.spring.policy.RefreshedPolicies;
import jakarta.servlet.DispatcherType;
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
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletListenerRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.security.web.FilterChainProxy;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.handler.MappedInterceptor;
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

	/** The filter bean of Spring Security, in which users log in. */
	static final String SECURITY_FILTER = "springSecurityFilterChain";

	/** Distance of the outermost filter from the first order. */
	private static final int DISTANCE = 10;

	@Bean
	@ConditionalOnMissingBean
	LimitHeaders rateLimitHeaders(RateLimitProperties properties, Environment environment) {
		return ResponseReader.readHeaders(properties, environment);
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
	ForwardingCheck rateLimitForwardingCheck(RateLimitProperties properties, ListableBeanFactory beans,
			Environment environment) {
		return new ForwardingCheck(!properties.ip().trustedProxies().isEmpty(), beans, environment);
	}

	@Bean
	CorsFilters rateLimitCorsFilters(ObjectProvider<SecurityFilters> security, ListableBeanFactory beans) {
		return new CorsFilters(security.getIfAvailable(() -> SecurityFilters.NONE), beans);
	}

	@Bean
	ApplicationCors rateLimitApplicationCors(CorsFilters filters, ObjectProvider<HandlerMapping> mappings) {
		return new ApplicationCors(filters::find, () -> mappings.orderedStream().toList());
	}

	@Bean
	Preflights rateLimitPreflights(ApplicationCors cors, ObjectProvider<SecurityFilters> security) {
		return new Preflights(cors, security.getIfAvailable(() -> SecurityFilters.NONE));
	}

	@Bean
	LimitedResponses rateLimitedResponses(LimitHeaders headers, RateLimitProperties properties,
			ObjectProvider<JsonMapper> jsonMapper, ObjectProvider<RejectionHandler> handler, ApplicationCors cors,
			ObjectProvider<SecurityFilters> security) {
		return new LimitedResponses(
				headers, ResponseReader.readRejections(properties.rejection(),
						jsonMapper.getIfAvailable(JsonMapper::shared), handler.getIfAvailable()),
				cors, security.getIfAvailable(() -> SecurityFilters.NONE));
	}

	@Bean
	RequestConditions rateLimitRequestConditions(RateLimitProperties properties, DeclaredPolicies declared) {
		return new RequestConditions(properties.policies(), declared::condition);
	}

	@Bean
	AccessLists rateLimitAccessLists(RateLimitProperties properties, RequestIdentifiers identifiers,
			ObjectProvider<RateLimitExemption> exemptions, Environment environment) {
		return new IdentifierReader(properties, environment).readLists(identifiers,
				exemptions.orderedStream().toList());
	}

	@Bean
	UserPlans rateLimitUserPlans(RateLimitProperties properties, ConfiguredPolicies policies,
			ObjectProvider<PlanResolver> resolver, ListableBeanFactory beans, Environment environment) {
		return new PlanReader(properties, policies, environment).read(mayChangePolicies(beans), resolver::getObject,
				beans.getBeanNamesForType(PlanResolver.class, true, false));
	}

	@Bean
	LoginFilters rateLimitLoginFilters(WebApplicationContext context) {
		return new LoginFilters(context);
	}

	/**
	 * Annotated methods use a {@link PolicyEnforcer} of the application instead, if there
	 * is one.
	 */
	@Bean
	@Fallback
	ServletPolicyEnforcer rateLimitPolicyEnforcer(PolicyDecisions decisions, RequestIdentifiers identifiers,
			AccessLists lists, RequestConditions conditions, ObjectProvider<RequestCost> cost, UserPlans plans,
			LimitedResponses responses, LoginFilters logins) {
		return new ServletPolicyEnforcer(decisions, identifiers, lists, conditions, cost.getIfAvailable(), plans,
				responses, logins::exist);
	}

	/**
	 * Creates the resolver before the first request. The enforcer gets it lazily, because
	 * it may depend on beans whose methods are limited.
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
	SmartInitializingSingleton rateLimitAllowedUsersCheck(ServletPolicyEnforcer enforcer, LimitedPaths paths,
			AccessLists lists) {
		return () -> {
			List<String> limited = lists.allowUsers() ? names(paths, enforcer::countsBeforeLogin) : List.of();
			if (!limited.isEmpty()) {
				logger.warn("Some entries of ratelimit.allow are known only after the login, but the policies {} count"
						+ " before it. What such clients use of them is refunded, but they are denied while it is used"
						+ " up", limited);
			}
		};
	}

	@Bean
	MappedInterceptor rateLimitLateUsers(RateLimitProperties properties, Environment environment) {
		return new MappedInterceptor(null,
				new LateUsers(FilterOrders.read(properties.filter(), environment).afterLogin()));
	}

	@Bean
	CountedTwice rateLimitCountedTwice(LimitedPaths paths, AnnotatedPolicies annotated,
			ObjectProvider<RequestMappingInfoHandlerMapping> mappings, Environment environment) {
		return new CountedTwice(paths, annotated, mappings, environment.getProperty("spring.mvc.servlet.path", ""));
	}

	/**
	 * An external container may authenticate users without a filter. Beans of the
	 * application may change what happens to requests without a user.
	 */
	@Bean
	@ConditionalOnNotWarDeployment
	SmartInitializingSingleton rateLimitUserCheck(RequestIdentifiers identifiers, LoginFilters logins,
			ConfiguredPolicies policies, LimitedPaths paths, AnnotatedPolicies annotated,
			ObjectProvider<RequestMappingInfoHandlerMapping> mappings, ObjectProvider<PolicyEnforcer> enforcer,
			ListableBeanFactory beans) {
		UserCheck check = new UserCheck(identifiers, policies);
		return () -> {
			if (logins.exist()) {
				check.warnOfUncountedLogins(paths);
				return;
			}
			if (mayChangePolicies(beans)) {
				return;
			}
			check.requireCounted(paths);
			if (enforcer.getIfUnique() instanceof ServletPolicyEnforcer) {
				mappings.stream()
					.flatMap((mapping) -> mapping.getHandlerMethods().values().stream())
					.forEach((handler) -> check.requireCounted(handler, annotated));
			}
		};
	}

	@Bean
	ServletListenerRegistrationBean<CostSettlementListener> rateLimitCostSettlementListener(PolicyDecisions decisions) {
		return new ServletListenerRegistrationBean<>(new CostSettlementListener(decisions));
	}

	@Bean
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

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(TomcatWebServer.class)
	static class TomcatConfiguration {

		/** The server has been created, and accepts no connections yet. */
		@Bean
		SmartInitializingSingleton rateLimitRemoteIpValveCheck(RateLimitProperties properties,
				ApplicationContext context) {
			List<String> proxies = properties.ip().trustedProxies();
			return () -> {
				if (!proxies.isEmpty() && context instanceof WebServerApplicationContext servers
						&& servers.getWebServer() instanceof TomcatWebServer server) {
					RemoteIpValves.refuse(server.getTomcat().getServer(), proxies);
				}
			};
		}

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
				ServletPolicyEnforcer enforcer, RateLimitProperties properties, Environment environment) {
			return () -> {
				if (!paths.policies().isEmpty()
						&& beans.getBeanNamesForType(FilterChainProxy.class, true, false).length > 0) {
					FilterOrders.read(properties.filter(), environment)
						.requireUsable(names(paths, enforcer::needsUser));
				}
			};
		}

	}

	private static List<String> names(LimitedPaths paths, Predicate<IdentifiedPolicy> included) {
		return paths.policies().stream().filter(included).map((policy) -> policy.policy().name()).toList();
	}

	/** Returns whether a bean of the application may change policies at runtime. */
	private static boolean mayChangePolicies(ListableBeanFactory beans) {
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
