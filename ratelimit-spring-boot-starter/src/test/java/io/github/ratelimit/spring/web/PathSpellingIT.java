package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

import io.github.ratelimit.spring.OpenApplication;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.firewall.DefaultHttpFirewall;
import org.springframework.security.web.firewall.HttpFirewall;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.UrlHandlerFilter;
import org.springframework.web.servlet.config.annotation.PathMatchConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.util.pattern.PathPatternParser;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many spellings of a limited path, sent as they are: whenever one of them reaches the
 * handler, the limiter has counted it.
 */
@ParameterizedClass
@EnumSource(Container.class)
class PathSpellingIT {

	@Parameter
	Container container;

	/** Separators of segments, instead of a slash. */
	private static final List<String> SEPARATORS = List.of("//", "///", "/./", "/x/../", "/%2e/", "/x/%2e%2e/",
			"/x/.%2e/", "/;/", "/;a=b/", "/;a=b/../x/../", "%2f", "%2F", "/%2f", "%2f/", "%252f", "\\", "%5c", "/\\",
			"/%00/", "/%09/", "/%20/", "/.;/", "/..;/", "/x/..;/", "/x/..;a=b/", "/%3b/");

	/** What a segment may be made into. */
	private static final List<UnaryOperator<String>> SEGMENTS = List.of(PathSpellingIT::encodeFirst,
			PathSpellingIT::encodeAll, PathSpellingIT::encodeTwice, String::toUpperCase, (text) -> text + ";a=b",
			(text) -> text + ";", (text) -> text + "%3ba=b", (text) -> text + ";a=%2f..", (text) -> ";a" + text,
			(text) -> text + "%00", (text) -> text + "%20", (text) -> text + ".", (text) -> text + ".json",
			(text) -> text + "%0a", (text) -> text + "%0d", (text) -> text + "\t", (text) -> text + "?x",
			(text) -> text + "#x", (text) -> text + "%23", (text) -> text.replace("i", "\u0131"),
			(text) -> text.replace("i", "%c4%b1"), (text) -> text + "%c0%af", (text) -> text + "%u002f");

	private static final List<String> ENDS = List.of("", "/", "//", "/.", "/..", "/;", "/;a=b", ";a=b", ";", "%2f",
			"/%2e", "/x/..", "/x/../", "?", "?/../x", "#", "%20", "%00", ".", "/%20", "\\", "%5c");

	private static final List<String> FILES = List.of("/api/file.txt", "/api%2ffile.txt", "/api%2Ffile.txt",
			"/api//file.txt", "//api/file.txt", "/api\\file.txt", "/api%5cfile.txt", "/api%5Cfile.txt",
			"/other/../api/file.txt", "/other%2f..%2fapi/file.txt", "/api/%2e/file.txt", "/api;a=b/file.txt",
			"/api%2f%2ffile.txt", "%2fapi/file.txt", "/%2fapi/file.txt", "/%2f/api%2ffile.txt", "/\\api/file.txt",
			"/%5capi%5cfile.txt", "/ap%69%2ffile.txt", "/api%2f./file.txt", "/api%2f%2e/file.txt");

	/** One of how many spellings with two oddities is tried; all with -Pnightly. */
	private static final int SHARE = Integer.getInteger("ratelimit.spellings.share", 16);

	/** What oddly written paths of the limited handler match in one of their forms. */
	private static final String EXCLUDED = "/x/**,/*/x/**,/*/*/x/**,/*/./**,/*/item/*,/.*/**,/api/item/"
			+ ",/app/x/**,/app/*/x/**,/app/;/**";

	private static String encodeFirst(String text) {
		return encodeAll(text.substring(0, 1)) + text.substring(1);
	}

	private static String encodeAll(String text) {
		StringBuilder encoded = new StringBuilder();
		text.chars().forEach((c) -> encoded.append("%%%02x".formatted(c)));
		return encoded.toString();
	}

	private static String encodeTwice(String text) {
		return encodeAll(text).replace("%", "%25");
	}

	/**
	 * Spellings of {@code /api/item} behind a prefix, with one or two oddities. Of those
	 * with two only some, but others for each configuration.
	 */
	private static Set<String> spellings(String prefix, int configuration) {
		int pairs = Math.floorMod(configuration, SHARE);
		List<String> starts = new ArrayList<>(List.of("/"));
		starts.addAll(SEPARATORS);
		List<UnaryOperator<String>> segments = new ArrayList<>(List.of(UnaryOperator.identity()));
		segments.addAll(SEGMENTS);
		Set<String> spellings = new LinkedHashSet<>();
		for (String start : starts) {
			boolean odd = !start.equals("/");
			for (String end : ENDS) {
				if (!odd || end.isEmpty() || pairs++ % SHARE == 0) {
					spellings.add(prefix + start + "api/item" + end);
				}
			}
			for (UnaryOperator<String> segment : segments) {
				if (!odd || segment == segments.get(0) || pairs++ % SHARE == 0) {
					spellings.add(prefix + "/" + segment.apply("api") + start + "item");
				}
			}
			spellings.add(start + prefix.replaceFirst("^/", "") + "/api/item");
		}
		for (UnaryOperator<String> segment : segments) {
			for (String end : List.of("", "/", ";a=b", "/x/..")) {
				spellings.add(prefix + "/api/" + segment.apply("item") + end);
			}
		}
		spellings.removeIf((spelling) -> !spelling.startsWith("/"));
		return spellings;
	}

	/** What a lenient server accepts contains what others do. */
	@ParameterizedTest
	@CsvSource({ "Forgiving, '', spring.main.banner-mode=off, ", "Application, '', spring.main.banner-mode=off, /**",
			"Lenient, '', spring.main.banner-mode=off, /**", "LenientServlet, '', spring.main.banner-mode=off, /**",
			"SecureAndLenient, '', spring.main.banner-mode=off, /**",
			"Lenient, /app, server.servlet.context-path=/app, ",
			"Lenient, /app, spring.mvc.servlet.path=/app, /app/**" })
	void noSpellingGetsAroundLimitNorIsOfExcludedPath(String configuration, String prefix, String property,
			@Nullable String others) throws ClassNotFoundException {
		Class<?> type = Class.forName(PathSpellingIT.class.getName() + '$' + configuration);
		List<String> policies = (others != null) ? List.of("exact", "other") : List.of("exact");
		List<String> properties = new ArrayList<>(
				List.of(property, "ratelimit.policies.exact.paths=/api/item", "ratelimit.headers.styles=none"));
		if (others != null) {
			properties.add("ratelimit.policies.other.paths=" + others);
			properties.add("ratelimit.policies.other.exclude=" + EXCLUDED);
		}
		for (String policy : policies) {
			properties.add("ratelimit.policies.%s.limits=100000/d".formatted(policy));
			properties.add("ratelimit.policies.%s.algorithm=fixed-window".formatted(policy));
		}
		assertCounted(TestApplication.start(this.container, type, properties.toArray(String[]::new)),
				spellings(prefix, (configuration + this.container + property).hashCode()), "the limited item", 10,
				policies);
	}

	@ParameterizedTest
	@ValueSource(strings = { "decode", "passthrough" })
	void noSpellingThatReachesFileGetsAroundLimit(String slashes) {
		assertCounted(
				TestApplication.start(this.container, LenientFiles.class, "test.slashes=" + slashes,
						"ratelimit.policies.files: { paths: /api/**, limits: 1000/d }",
						"spring.web.resources.static-locations=classpath:/io/github/ratelimit/spring/web/static/"),
				FILES, "the limited file", 3, List.of("files"));
	}

	/** Asserts that more than some spellings are served, and each policy counts them. */
	private static void assertCounted(TestApplication started, Collection<String> spellings, String body, int some,
			List<String> policies) {
		int reached = 0;
		List<String> free = new ArrayList<>();
		try (TestApplication application = started) {
			for (String spelling : spellings) {
				application.forget();
				String response = application.sendRaw("GET " + spelling);
				assertThat(response).as(spelling).startsWith("HTTP/1.1 ");
				if (response.contains(body)) {
					reached++;
					policies.stream()
						.filter((policy) -> application.decisions(policy) == 0)
						.forEach((policy) -> free.add(policy + " " + spelling));
				}
			}
		}
		assertThat(free).isEmpty();
		assertThat(reached).isGreaterThan(some);
	}

	@RestController
	static class Handlers {

		@GetMapping("/api/item")
		String item() {
			return "the limited item";
		}

		/** Another handler, as applications have them; reaching it is no way around. */
		@GetMapping("/{x}/{y}")
		String any(@PathVariable String x, @PathVariable String y) {
			return "other";
		}

	}

	@OpenApplication
	@Import(Handlers.class)
	static class Application {

	}

	/** The container finds a servlet by the decoded path. */
	@OpenApplication
	@Import(Container.Lenience.class)
	static class LenientServlet {

		@Bean
		ServletRegistrationBean<HttpServlet> servlet() {
			return new ServletRegistrationBean<>(new HttpServlet() {

				@Override
				protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
					response.getWriter().print("the limited item");
				}

			}, "/api/item");
		}

	}

	/** As servers of files do. */
	static class Forgiving extends Application implements WebMvcConfigurer {

		@Override
		public void configurePathMatch(PathMatchConfigurer configurer) {
			PathPatternParser parser = new PathPatternParser();
			parser.setCaseSensitive(false);
			configurer.setPatternParser(parser);
		}

		@Bean
		UrlHandlerFilter urlHandlerFilter() {
			return UrlHandlerFilter.trailingSlashHandler("/**").wrapRequest().build();
		}

	}

	@Import(Container.Lenience.class)
	static class Lenient extends Application {

	}

	@OpenApplication
	@Import(Container.Lenience.class)
	static class LenientFiles {

	}

	/** Spring Security, too, accepts paths that it rejects by default. */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Handlers.class, Container.Lenience.class })
	static class SecureAndLenient {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll()).build();
		}

		@Bean
		HttpFirewall firewall() {
			DefaultHttpFirewall firewall = new DefaultHttpFirewall();
			firewall.setAllowUrlEncodedSlash(true);
			return firewall;
		}

	}

}
