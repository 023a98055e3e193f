package io.github.ratelimit.spring.web;

import java.io.IOException;

import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.HttpStatusEntryPoint;
import org.springframework.security.web.authentication.www.BasicAuthenticationFilter;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.UrlBasedCorsConfigurationSource;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.CorsRegistry;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * An application that allows pages of another origin in different ways, or does not, with
 * what may come before that: it has the beans whose names are properties.
 */
@Configuration(proxyBeanMethods = false)
@RestController
class CorsApplication {

	static final String PAGE = "https://page.example";

	@GetMapping({ "/api/x", "/user", "/api/open/x" })
	String get(HttpServletResponse response) {
		response.setHeader("X-Of-Application", "1");
		response.setHeader("X-Secret", "1");
		return "served";
	}

	@GetMapping("/annotated")
	@RateLimited(limits = "1/m")
	public String annotated(HttpServletResponse response) {
		return get(response);
	}

	@CrossOrigin(origins = PAGE, allowCredentials = "true")
	@GetMapping("/api/cross")
	String cross() {
		return "served";
	}

	@Bean
	static ServletRegistrationBean<HttpServlet> otherServlet() {
		return new ServletRegistrationBean<>(new HttpServlet() {

			@Override
			protected void doOptions(HttpServletRequest request, HttpServletResponse response) throws IOException {
				response.getWriter().print("reached");
			}

		}, "/api/servlet");
	}

	@Bean
	@ConditionalOnProperty("mappings")
	static WebMvcConfigurer mappings() {
		return new WebMvcConfigurer() {

			@Override
			public void addCorsMappings(CorsRegistry registry) {
				registry.addMapping("/**").allowedOrigins(PAGE).exposedHeaders("X-Of-Application");
			}

		};
	}

	@Bean
	@ConditionalOnProperty("filter")
	static CorsFilter filter() {
		return new CorsFilter(source());
	}

	@Bean
	@ConditionalOnProperty("filter-of-other-path")
	static FilterRegistrationBean<CorsFilter> filterOfOtherPath() {
		return TestApplication.filterAt(-1000, new CorsFilter(source()), "/api/open/*");
	}

	private static UrlBasedCorsConfigurationSource source() {
		CorsConfiguration cors = new CorsConfiguration();
		cors.addAllowedOrigin(PAGE);
		cors.addExposedHeader("X-Of-Application");
		UrlBasedCorsConfigurationSource source = new UrlBasedCorsConfigurationSource();
		source.registerCorsConfiguration("/**", cors);
		return source;
	}

	@Bean
	@ConditionalOnProperty("security-with-cors")
	static SecurityFilterChain securityWithCors(HttpSecurity http) {
		return http.cors(Customizer.withDefaults()).httpBasic(Customizer.withDefaults()).build();
	}

	@Bean
	@ConditionalOnProperty("security-without-cors")
	static SecurityFilterChain securityWithoutCors(HttpSecurity http) {
		return http.csrf((csrf) -> csrf.disable()).httpBasic(Customizer.withDefaults()).build();
	}

	@Bean
	@ConditionalOnProperty("security-before-cors")
	static SecurityFilterChain securityBeforeCors(HttpSecurity http) {
		BasicAuthenticationFilter login = new BasicAuthenticationFilter((guess) -> {
			throw new BadCredentialsException("wrong");
		}, new HttpStatusEntryPoint(HttpStatus.UNAUTHORIZED));
		return http.cors((cors) -> cors.configurationSource(source())).addFilterBefore(login, CorsFilter.class).build();
	}

	@Bean
	@ConditionalOnProperty("keys")
	static FilterRegistrationBean<KeyCheck> keys(@Value("${keys}") int order) {
		return TestApplication.filterAt(order, new KeyCheck());
	}

	/** Another filter allows origins, before the keys are checked. */
	@Bean
	@ConditionalOnProperty("allowed-origin")
	static FilterRegistrationBean<Filter> allowedOrigin() {
		return TestApplication.filterAt(-1, (request, response, chain) -> {
			((HttpServletResponse) response).setHeader("Access-Control-Allow-Origin", PAGE);
			((HttpServletResponse) response).setHeader("Access-Control-Allow-Methods", "GET");
			chain.doFilter(request, response);
		});
	}

	@Bean
	@ConditionalOnProperty("key-interceptor")
	static WebMvcConfigurer keyInterceptor() {
		return new WebMvcConfigurer() {

			@Override
			public void addInterceptors(InterceptorRegistry registry) {
				registry.addInterceptor(new KeyCheck());
			}

		};
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
