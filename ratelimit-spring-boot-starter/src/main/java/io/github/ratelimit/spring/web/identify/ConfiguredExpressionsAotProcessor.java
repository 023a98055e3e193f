package io.github.ratelimit.spring.web.identify;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.spring.expression.ExpressionHints;
import io.github.ratelimit.spring.config.PolicySettings;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Registers hints for the expressions of {@code ratelimit.identifiers},
 * {@code ratelimit.plan} and the conditions of policies: what they read from requests and
 * principals of the servlet container and Spring Security. It uses the configuration at
 * build time of the native image.
 */
class ConfiguredExpressionsAotProcessor implements BeanFactoryInitializationAotProcessor {

	/** The most common types of {@code #request} and {@code #principal}. */
	private static final List<String> TYPES = List.of("jakarta.servlet.http.HttpServletRequest",
			"jakarta.servlet.ServletRequestWrapper", "jakarta.servlet.http.HttpServletRequestWrapper",
			"org.apache.catalina.connector.RequestFacade", "java.security.Principal",
			"org.springframework.security.authentication.AbstractAuthenticationToken",
			"org.springframework.security.core.userdetails.UserDetails",
			"org.springframework.security.core.userdetails.User", "org.springframework.security.oauth2.jwt.Jwt",
			"org.springframework.security.oauth2.core.user.DefaultOAuth2User",
			"org.springframework.security.oauth2.core.oidc.user.DefaultOidcUser",
			"org.springframework.security.saml2.provider.service.authentication.DefaultSaml2AuthenticatedPrincipal");

	@Override
	public @Nullable BeanFactoryInitializationAotContribution processAheadOfTime(
			ConfigurableListableBeanFactory beans) {
		Binder binder = Binder.get(beans.getBean(Environment.class));
		List<String> expressions = new ArrayList<>(
				binder.bind("ratelimit.identifiers", Bindable.mapOf(String.class, String.class))
					.orElse(Map.of())
					.values());
		binder.bind("ratelimit.plan", String.class).ifBound(expressions::add);
		binder.bind("ratelimit.policies", Bindable.mapOf(String.class, PolicySettings.class))
			.orElse(Map.of())
			.values()
			.stream()
			.flatMap(PolicySettings::expressions)
			.forEach(expressions::add);
		if (expressions.isEmpty()) {
			return null;
		}
		ClassLoader classLoader = beans.getBeanClassLoader();
		return (context, code) -> ExpressionHints.register(context.getRuntimeHints().reflection(), expressions,
				TYPES.stream()
					.filter((name) -> ClassUtils.isPresent(name, classLoader))
					.map((name) -> ResolvableType.forClass(ClassUtils.resolveClassName(name, classLoader)))
					.toList());
	}

}
