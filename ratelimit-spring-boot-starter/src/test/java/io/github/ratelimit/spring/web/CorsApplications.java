package io.github.ratelimit.spring.web;

import java.io.IOException;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
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
 * Applications that allow pages of another origin in different ways, or do not, with what
 * may come before that.
 */
abstract class CorsApplications {

	static final String PAGE = "https://page.example";

	private static UrlBasedCorsConfigurationSource source() {
		CorsConfiguration cors = new CorsConfiguration();
		cors.addAllowedOrigin(PAGE);
		cors.addExposedHeader("X-Of-Application");
		UrlBasedCorsConfigurationSource source = new UrlBasedCorsConfigurationSource();
		source.registerCorsConfiguration("/**", cors);
		return source;
	}

	@RestController
	static class Handlers {

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

	}

	@OpenApplication
	@Import(Handlers.class)
	static class Plain {

	}

	static class Mappings implements WebMvcConfigurer {

		@Override
		public void addCorsMappings(CorsRegistry registry) {
			registry.addMapping("/**").allowedOrigins(PAGE).exposedHeaders("X-Of-Application");
		}

	}

	@Import(Mappings.class)
	static class WithMvc extends Plain {

	}

	static class WithFilter extends Plain {

		@Bean
		CorsFilter crossOrigin() {
			return new CorsFilter(source());
		}

	}

	static class WithFilterOfOtherPath extends Plain {

		@Bean
		FilterRegistrationBean<CorsFilter> crossOrigin() {
			return TestApplication.filterAt(-1000, new CorsFilter(source()), "/api/open/*");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class Secure {

	}

	@Import(Mappings.class)
	static class SecurityWithMvc extends Secure {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) {
			return http.cors(Customizer.withDefaults()).httpBasic(Customizer.withDefaults()).build();
		}

	}

	@Import(Mappings.class)
	static class SecurityWithoutCors extends Secure {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) {
			return http.csrf((csrf) -> csrf.disable()).httpBasic(Customizer.withDefaults()).build();
		}

	}

	static class LoginBeforeCors extends Secure {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) {
			BasicAuthenticationFilter login = new BasicAuthenticationFilter((guess) -> {
				throw new BadCredentialsException("wrong");
			}, new HttpStatusEntryPoint(HttpStatus.UNAUTHORIZED));
			return http.cors((cors) -> cors.configurationSource(source()))
				.addFilterBefore(login, CorsFilter.class)
				.build();
		}

	}

	static class KeyFilter extends WithMvc {

		@Bean
		FilterRegistrationBean<KeyCheck> keyCheck() {
			return TestApplication.filterAt(0, new KeyCheck());
		}

	}

	static class KeyFilterBeforeSecurity extends SecurityWithMvc {

		@Bean
		FilterRegistrationBean<KeyCheck> keyCheck() {
			return TestApplication.filterAt(-105, new KeyCheck());
		}

	}

	/** Another filter allows origins, before the keys are checked. */
	static class KeyFilterAfterAllowedOrigin extends KeyFilter {

		@Bean
		FilterRegistrationBean<Filter> allowedOrigin() {
			return TestApplication.filterAt(-1, (request, response, chain) -> {
				((HttpServletResponse) response).setHeader("Access-Control-Allow-Origin", PAGE);
				((HttpServletResponse) response).setHeader("Access-Control-Allow-Methods", "GET");
				chain.doFilter(request, response);
			});
		}

	}

	static class KeyInterceptor extends WithMvc implements WebMvcConfigurer {

		@Override
		public void addInterceptors(InterceptorRegistry registry) {
			registry.addInterceptor(new KeyCheck());
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
