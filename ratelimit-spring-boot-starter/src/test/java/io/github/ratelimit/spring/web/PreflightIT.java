package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.http.HttpResponse;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authorization.AuthorizationDecision;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.access.ExceptionTranslationFilter;
import org.springframework.security.web.access.intercept.AuthorizationFilter;
import org.springframework.security.web.authentication.Http403ForbiddenEntryPoint;
import org.springframework.security.web.authentication.HttpStatusEntryPoint;
import org.springframework.security.web.authentication.www.BasicAuthenticationFilter;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.UrlBasedCorsConfigurationSource;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.handler.MappedInterceptor;
import org.springframework.web.servlet.handler.UserRoleAuthorizationInterceptor;
import org.springframework.web.servlet.i18n.LocaleChangeInterceptor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which preflight requests are free: those that CORS code answers.
 */
@EachContainer
class PreflightIT {

	@Parameter
	Container container;

	@RegisterExtension
	static final TestApplications applications = new TestApplications();

	private static final String PAGE = "https://page.example";

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, WithFilter.class, SecurityWithCors.class, SecurityWithMvcCors.class,
			LocaleInterceptor.class })
	void preflightIsFreeWhenCorsCodeAnswersIt(Class<?> configuration) {
		TestApplication application = application(configuration);
		assertThat(application.get("/api/x").statusCode()).isEqualTo(200);
		assertThat(application.get("/api/x").statusCode()).isEqualTo(429);
		for (int i = 0; i < 3; i++) {
			HttpResponse<String> preflight = preflight(application, "/api/x");
			assertThat(preflight.statusCode()).isEqualTo(200);
			assertThat(preflight.headers().allValues("Access-Control-Allow-Origin")).containsExactly("*");
		}
	}

	/** Spring MVC adds an interceptor of its own to files. */
	@ParameterizedTest
	@ValueSource(classes = { Plain.class, SecurityWithMvcCors.class })
	void preflightOfFileIsFree(Class<?> configuration) {
		TestApplication application = application(configuration);
		for (int i = 0; i < 3; i++) {
			assertThat(preflight(application, "/api/file.css").statusCode()).isEqualTo(200);
		}
		assertThat(application.decisions()).isZero();
	}

	@ParameterizedTest
	@ValueSource(classes = { SecurityWithCors.class, SecurityWithMvcCors.class })
	void preflightIsNotLimitedWhenCorsCodeAnswersFirst(Class<?> configuration) {
		TestApplication application = application(configuration);
		for (int i = 0; i < 3; i++) {
			assertThat(preflight(application, "/api/x", "Authorization", "Basic d3Jvbmc6d3Jvbmc=").statusCode())
				.isEqualTo(200);
		}
		assertThat(application.decisions()).isZero();
	}

	@Test
	void preflightIsRefundedWhenCorsCodeAnswersAfterSpringSecurity() {
		TestApplication application = application(SecurityWithoutCors.class);
		for (int i = 0; i < 3; i++) {
			assertThat(preflight(application, "/api/x").statusCode()).isEqualTo(200);
			application.assertUsed("api", 0);
		}
		assertThat(preflight(application, "/api/x", "Authorization", "Basic d3Jvbmc6d3Jvbmc=").statusCode())
			.isEqualTo(401);
		application.assertUsed("api", 1);
		// The denied one is answered by CORS code, which checks no credentials.
		assertThat(preflight(application, "/api/x", "Authorization", "Basic d3Jvbmc6d3Jvbmc=").statusCode())
			.isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, SecurityWithoutCors.class })
	void preflightIsCountedWhenAnotherServletGetsIt(Class<?> configuration) {
		TestApplication application = application(configuration);
		assertThat(preflight(application, "/api/servlet").body()).isEqualTo("reached");
		application.assertUsed("api", 1);
		assertThat(preflight(application, "/api/servlet").statusCode()).isEqualTo(429);
	}

	@Test
	void preflightIsLimitedWhenCredentialsAreCheckedBeforeCors() {
		TestApplication application = application(LoginBeforeCors.class);
		assertThat(preflight(application, "/api/x", "Authorization", "Basic d3Jvbmc6d3Jvbmc=").statusCode())
			.isEqualTo(401);
		application.assertUsed("api", 1);
		// The denied one is answered by CORS code, which checks no credentials.
		assertThat(preflight(application, "/api/x", "Authorization", "Basic d3Jvbmc6d3Jvbmc=").statusCode())
			.isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(classes = { AuthorizationBeforeCors.class, RoleInterceptor.class })
	void preflightIsLimitedWhenSpringMayRejectItBeforeCors(Class<?> configuration) {
		TestApplication application = application(configuration);
		assertThat(preflight(application, "/api/x").statusCode()).isEqualTo(403);
		application.assertUsed("api", 1);
	}

	@Test
	void preflightWithCredentialsIsFreeWhenNobodyMayReadThem() {
		TestApplication application = application(Plain.class);
		for (int i = 0; i < 3; i++) {
			assertThat(preflight(application, "/api/x", "Authorization", "Bearer guess").statusCode()).isEqualTo(200);
		}
		assertThat(application.decisions()).isZero();
	}

	/**
	 * Or keys could be guessed without limit. The last one is answered by CORS code,
	 * which knows no keys.
	 */
	@ParameterizedTest
	@ValueSource(classes = { KeyFilter.class, KeyFilterBeforeFilter.class, KeyFilterBeforeSecurity.class,
			KeyFilterAfterAllowedOrigin.class, KeyInterceptor.class, MappedKeyInterceptor.class })
	void preflightIsLimitedWhenApplicationReadsKeys(Class<?> configuration) {
		TestApplication application = application(configuration);
		assertThat(preflight(application, "/api/x", "X-Api-Key", "wrong").statusCode()).isEqualTo(401);
		application.assertUsed("api", 1);
		assertThat(preflight(application, "/api/x", "X-Api-Key", "wrong").statusCode()).isEqualTo(200);
		application.assertUsed("api", 1);
	}

	@ParameterizedTest
	@ValueSource(classes = { KeyFilter.class, KeyFilterBeforeFilter.class, KeyFilterBeforeSecurity.class,
			KeyFilterAfterAllowedOrigin.class, KeyInterceptor.class })
	void countedPreflightIsRefundedBeforeItsRequestComes(Class<?> configuration) {
		TestApplication application = application(configuration);
		for (int i = 0; i < 3; i++) {
			assertThat(preflight(application, "/api/x").statusCode()).isEqualTo(200);
		}
		assertThat(application.decisions()).isEqualTo(3);
		assertThat(application.get("/api/x").headers().firstValue("X-Rate-Limit-Remaining")).hasValue("0");
	}

	@ParameterizedTest
	@ValueSource(classes = { KeyFilter.class, KeyFilterBeforeFilter.class, KeyFilterBeforeSecurity.class,
			KeyFilterAfterAllowedOrigin.class, KeyInterceptor.class })
	void deniedPreflightLetsThePageReadTheDenialOfItsRequest(Class<?> configuration) {
		TestApplication application = application(configuration);
		application.get("/api/x");
		HttpResponse<String> preflight = preflight(application, "/api/x");
		assertThat(preflight.statusCode()).isEqualTo(200);
		assertThat(preflight.body()).isEmpty();
		assertThat(preflight.headers().allValues("Access-Control-Allow-Origin")).containsExactly("*");
		assertThat(preflight.headers().allValues("Access-Control-Allow-Methods")).isNotEmpty();
		assertThat(new Browser(application).fetch("/api/x").status()).isEqualTo(429);
	}

	private TestApplication application(Class<?> configuration) {
		return applications.get(this.container, configuration, "ratelimit.policies.api.paths=/api/**",
				"ratelimit.policies.api.limits=1/m");
	}

	private static HttpResponse<String> preflight(TestApplication application, String path, String... headers) {
		String[] all = new String[headers.length + 4];
		System.arraycopy(headers, 0, all, 4, headers.length);
		all[0] = "Origin";
		all[1] = PAGE;
		all[2] = "Access-Control-Request-Method";
		all[3] = "GET";
		return application.send("OPTIONS", path, all);
	}

	@RestController
	static class Handlers {

		@CrossOrigin
		@GetMapping("/api/x")
		String get() {
			return "served";
		}

		@GetMapping("/api/y")
		String other() {
			return "served";
		}

		@Bean
		static ServletRegistrationBean<OtherServlet> otherServlet() {
			return new ServletRegistrationBean<>(new OtherServlet(), "/api/servlet");
		}

	}

	static class OtherServlet extends HttpServlet {

		private static final long serialVersionUID = 1;

		@Override
		protected void doOptions(HttpServletRequest request, HttpServletResponse response) throws IOException {
			response.getWriter().print("reached");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { ServletWebSecurityAutoConfiguration.class, UserDetailsServiceAutoConfiguration.class })
	@Import(Handlers.class)
	static class Plain {

	}

	static class WithFilter extends Plain {

		@Bean
		CorsFilter corsFilter() {
			return new CorsFilter(source());
		}

	}

	private static UrlBasedCorsConfigurationSource source() {
		UrlBasedCorsConfigurationSource source = new UrlBasedCorsConfigurationSource();
		source.registerCorsConfiguration("/**", new CorsConfiguration().applyPermitDefaultValues());
		return source;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class SecurityWithCors {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) {
			return http.cors((cors) -> cors.configurationSource(source())).httpBasic(Customizer.withDefaults()).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class LoginBeforeCors {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) {
			AuthenticationManager nobody = (login) -> {
				throw new BadCredentialsException("wrong");
			};
			return http.cors((cors) -> cors.configurationSource(source()))
				.httpBasic(Customizer.withDefaults())
				.addFilterBefore(
						new BasicAuthenticationFilter(nobody, new HttpStatusEntryPoint(HttpStatus.UNAUTHORIZED)),
						CorsFilter.class)
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class AuthorizationBeforeCors {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) {
			return http.cors((cors) -> cors.configurationSource(source()))
				.addFilterBefore(new ExceptionTranslationFilter(new Http403ForbiddenEntryPoint()), CorsFilter.class)
				.addFilterBefore(new AuthorizationFilter((user, request) -> new AuthorizationDecision(false)),
						CorsFilter.class)
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class SecurityWithMvcCors {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) {
			return http.cors(Customizer.withDefaults()).httpBasic(Customizer.withDefaults()).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class SecurityWithoutCors {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) {
			return http.csrf((csrf) -> csrf.disable()).httpBasic(Customizer.withDefaults()).build();
		}

	}

	static class KeyFilter extends Plain {

		@Bean
		FilterRegistrationBean<KeyCheck> keyCheck() {
			FilterRegistrationBean<KeyCheck> registration = new FilterRegistrationBean<>(new KeyCheck());
			registration.setOrder(0);
			return registration;
		}

	}

	static class KeyFilterBeforeFilter extends KeyFilter {

		@Bean
		CorsFilter corsFilter() {
			return new CorsFilter(source());
		}

	}

	static class KeyFilterBeforeSecurity extends SecurityWithCors {

		@Bean
		FilterRegistrationBean<KeyCheck> keyCheck() {
			FilterRegistrationBean<KeyCheck> registration = new FilterRegistrationBean<>(new KeyCheck());
			registration.setOrder(-105);
			return registration;
		}

	}

	/** Another filter allows origins, before the keys are checked. */
	static class KeyFilterAfterAllowedOrigin extends KeyFilter {

		@Bean
		FilterRegistrationBean<Filter> allowedOrigin() {
			FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
				((HttpServletResponse) response).setHeader("Access-Control-Allow-Origin", "*");
				((HttpServletResponse) response).setHeader("Access-Control-Allow-Methods", "GET");
				chain.doFilter(request, response);
			});
			registration.setOrder(-1);
			return registration;
		}

	}

	static class KeyInterceptor extends Plain implements WebMvcConfigurer {

		@Override
		public void addInterceptors(InterceptorRegistry registry) {
			registry.addInterceptor(new KeyCheck());
		}

	}

	static class RoleInterceptor extends Plain implements WebMvcConfigurer {

		@Override
		public void addInterceptors(InterceptorRegistry registry) {
			UserRoleAuthorizationInterceptor roles = new UserRoleAuthorizationInterceptor();
			roles.setAuthorizedRoles("admin");
			registry.addInterceptor(roles);
		}

	}

	static class LocaleInterceptor extends Plain implements WebMvcConfigurer {

		@Override
		public void addInterceptors(InterceptorRegistry registry) {
			registry.addInterceptor(new LocaleChangeInterceptor());
		}

	}

	/** One that hides another one. */
	static class MappedKeyInterceptor extends Plain implements WebMvcConfigurer {

		@Override
		public void addInterceptors(InterceptorRegistry registry) {
			registry.addInterceptor(new MappedInterceptor(new String[] { "/**" }, new KeyCheck()))
				.addPathPatterns("/api/**");
		}

	}

	/** Rejects wrong keys, but no request without a key. */
	static class KeyCheck implements Filter, HandlerInterceptor {

		@Override
		public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
				throws IOException, ServletException {
			if (preHandle((HttpServletRequest) request, (HttpServletResponse) response, chain)) {
				chain.doFilter(request, response);
			}
		}

		@Override
		public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object next)
				throws IOException {
			boolean wrong = "wrong".equals(request.getHeader("X-Api-Key"));
			if (wrong) {
				response.sendError(HttpServletResponse.SC_UNAUTHORIZED);
			}
			return !wrong;
		}

	}

}
