package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.IdentifierResolver;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.AuthenticationEntryPointFailureHandler;
import org.springframework.security.web.authentication.AuthenticationFailureHandler;
import org.springframework.security.web.authentication.HttpStatusEntryPoint;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page {@code docs/login.md}: its configuration and its classes, under attack. A
 * trusted proxy tells the addresses of clients.
 */
class LoginRecipeIT {

	private static final Path PAGE = Path.of("../docs/login.md");

	private static final Path SOURCES = Path.of("src/test/java/io/github/ratelimit/spring/web");

	private static final String OWNER = "203.0.113.7";

	@RegisterExtension
	static final TestApplication.Shared applications = new TestApplication.Shared();

	private static final AtomicBoolean databaseFails = new AtomicBoolean();

	private TestApplication application;

	@BeforeEach
	void start() throws IOException {
		databaseFails.set(false);
		this.application = applications.get(Application.class, "ratelimit.ip.trusted-proxies=127.0.0.1",
				blocks("yaml").findFirst().orElseThrow());
	}

	@ParameterizedTest
	@ValueSource(strings = { "/login", "/api/login", "/login?username=anna" })
	void addressesAndHeadersGiveNoMoreGuessesForAnAccount(String path) {
		List<Integer> statuses = new ArrayList<>();
		for (int address = 1; address <= 9; address++) {
			for (int header = 1; header <= 9; header++) {
				statuses.add(logIn(path, "198.51.100." + address, "anna", "wrong", "X-User", "user-" + header,
						"username", "user-" + header));
			}
		}
		assertThat(statuses.subList(0, 9)).containsExactly(401, 401, 401, 401, 401, 429, 429, 429, 429);
		assertThat(statuses.stream().filter((status) -> status == 401)).hasSize(20);
		assertThat(statuses).containsOnly(401, 429);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/login", "/api/login" })
	void strangerLocksOutNobodyBeforeLargerQuotaIsUsed(String path) {
		for (int address = 1; address <= 3; address++) {
			assertThat(wrong(path, "198.51.100." + address, "anna", 9)).startsWith(401, 401, 401, 401, 401, 429);
			assertThat(logIn(path, "198.51.100." + address, "anna", "secret")).isEqualTo(429);
		}
		assertThat(logIn(path, OWNER, "anna", "wrong")).isEqualTo(401);
		assertThat(logIn(path, OWNER, "anna", "secret")).isEqualTo(200);
	}

	@Test
	void ownerIsLockedOutOnceLargerQuotaIsUsed() {
		for (int address = 1; address <= 4; address++) {
			assertThat(wrong("/login", "198.51.100." + address, "anna", 5)).containsOnly(401);
		}
		assertThat(logIn("/login", OWNER, "anna", "secret")).isEqualTo(429);
		assertThat(logIn("/login", OWNER, "berta", "secret")).isEqualTo(200);
		this.application.advance(Duration.ofHours(1));
		assertThat(logIn("/login", OWNER, "anna", "secret")).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/login", "/api/login" })
	void fiveSpellingsShareOneCountAndOneAccount(String path) {
		List<String> spellings = List.of("anna", "ANNA", " anna\u3000", "\uff41\uff4e\uff4e\uff41",
				"\ud835\udc00\ud835\udc0d\ud835\udc0d\ud835\udc00");
		for (String spelling : spellings) {
			assertThat(logIn(path, OWNER, spelling, "secret")).as(spelling).isEqualTo(200);
		}
		for (String spelling : spellings) {
			assertThat(logIn(path, OWNER, spelling, "wrong")).as(spelling).isEqualTo(401);
		}
		for (String spelling : spellings) {
			assertThat(wrong(path, OWNER, spelling, 2)).as(spelling).containsOnly(429);
		}
		assertThat(wrong(path, OWNER, "J\u00f6rg", 3)).containsOnly(401);
		assertThat(wrong(path, OWNER, "jo\u0308rg", 3)).containsExactly(401, 401, 429);
	}

	@Test
	void rightPasswordClearsBothCountsOfItsAccountAlone() {
		for (int time = 0; time < 7; time++) {
			assertThat(wrong("/login", OWNER, "anna", 4)).containsOnly(401);
			assertThat(logIn("/api/login", OWNER, "anna", "secret")).isEqualTo(200);
		}
		for (int time = 0; time < 5; time++) {
			assertThat(logIn("/login", OWNER, "anna", "wrong")).isEqualTo(401);
			assertThat(logIn("/login", OWNER, "berta", "secret")).isEqualTo(200);
		}
		assertThat(logIn("/login", OWNER, "anna", "wrong")).isEqualTo(429);
	}

	/** Of accounts that do not exist, too. */
	@ParameterizedTest
	@CsvSource({ "/login, anna", "/api/login, anna", "/login, nobody" })
	void onlyWrongPasswordsCountForTheAddress(String path, String account) {
		assertThat(wrong(path, OWNER, account, 9)).containsExactly(401, 401, 401, 401, 401, 429, 429, 429, 429);
		assertThat(logIn(path, OWNER, "berta", "secret")).isEqualTo(200);
		this.application.assertUsed("login-address", Identifier.ip(OWNER), 5);
	}

	@Test
	void manyAccountsFromOneAddressAreDeniedByItsCount() {
		for (int account = 0; account < 50; account++) {
			assertThat(logIn("/login", "198.51.100.1", "user-" + account, "wrong")).isEqualTo(401);
		}
		assertThat(logIn("/login", "198.51.100.1", "user-50", "wrong")).isEqualTo(429);
		assertThat(logIn("/api/login", "198.51.100.1", "user-51", "wrong")).isEqualTo(429);
		assertThat(logIn("/login", OWNER, "user-50", "wrong")).isEqualTo(401);
	}

	@Test
	void manyAccountsByHttpBasicAreDeniedByTheSameCount() {
		for (int account = 0; account < 50; account++) {
			assertThat(basic("user-" + account)).isEqualTo(401);
		}
		assertThat(basic("user-50")).isEqualTo(429);
		assertThat(logIn("/login", "198.51.100.1", "user-51", "wrong")).isEqualTo(429);
	}

	private int basic(String name) {
		return this.application.getAs(name + ":wrong", "/other", "X-Forwarded-For", "198.51.100.1").statusCode();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/login", "/api/login" })
	void longNameIsRefusedAndNotKept(String path) {
		assertThat(wrong(path, OWNER, "a".repeat(101), 9)).containsOnly(401);
		this.application.assertUsed("login-address", Identifier.ip(OWNER), 0);
	}

	@Test
	void attemptDoesNotCountWhenTheDatabaseFails() {
		databaseFails.set(true);
		assertThat(wrong("/api/login", OWNER, "anna", 60)).containsOnly(401);
		assertThat(wrong("/login", OWNER, "anna", 9)).containsOnly(500);
		databaseFails.set(false);
		assertThat(wrong("/login", OWNER, "anna", 6)).containsExactly(401, 401, 401, 401, 401, 429);
	}

	@Test
	void pageShowsTheClassesThatAreTested() throws IOException {
		String tested = Files.readString(SOURCES.resolve("LimitedPasswords.java"))
				+ Files.readString(SOURCES.resolve("JsonLogin.java"))
				+ Files.readString(SOURCES.resolve("LoginRecipeIT.java"));
		List<String> shown = blocks("java").flatMap(String::lines)
			.filter((line) -> !line.startsWith("import "))
			.map(String::strip)
			.toList();
		assertThat(shown).hasSizeGreaterThan(50);
		assertThat(tested.lines().map(String::strip).toList()).containsAll(shown);
	}

	private List<Integer> wrong(String path, String address, String name, int times) {
		return IntStream.range(0, times).mapToObj((i) -> logIn(path, address, name, "wrong")).toList();
	}

	private int logIn(String path, String address, String name, String password, String... headers) {
		boolean json = path.startsWith("/api");
		String body = json ? JsonMapper.shared().writeValueAsString(Map.of("username", name, "password", password))
				: "username=%s&password=%s".formatted(URLEncoder.encode(name, StandardCharsets.UTF_8), password);
		Stream<String> all = Stream.concat(Stream.of("X-Forwarded-For", address, "Content-Type",
				json ? "application/json" : "application/x-www-form-urlencoded"), Stream.of(headers));
		return this.application.send("POST", path, BodyPublishers.ofString(body), all.toArray(String[]::new))
			.statusCode();
	}

	private static Stream<String> blocks(String language) throws IOException {
		return Pattern.compile("(?m)^```" + language + "\\n(.*?)^```", Pattern.DOTALL)
			.matcher(Files.readString(PAGE))
			.results()
			.map((MatchResult block) -> block.group(1));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ LimitedPasswords.class, JsonLogin.class })
	static class Application {

		@Bean
		IdentifierResolver account() {
			return (request) -> (String) request.getAttribute("login.account");
		}

		@Bean
		AuthenticationFailureHandler unauthorized() {
			return new AuthenticationEntryPointFailureHandler(new HttpStatusEntryPoint(HttpStatus.UNAUTHORIZED));
		}

		@Bean
		SecurityFilterChain security(HttpSecurity http, AuthenticationFailureHandler unauthorized) {
			return http.csrf(AbstractHttpConfigurer::disable)
				.authorizeHttpRequests((requests) -> requests.requestMatchers("/api/login", "/error")
					.permitAll()
					.anyRequest()
					.authenticated())
				.httpBasic(Customizer.withDefaults())
				.formLogin((form) -> form.failureHandler(unauthorized)
					.successHandler((request, response, user) -> response.setStatus(200)))
				.build();
		}

		@Bean
		PasswordEncoder passwordEncoder() {
			return new BCryptPasswordEncoder(4);
		}

		@Bean
		UserDetailsService users(PasswordEncoder encoder) {
			UserDetailsService users = new LoginApplication.TestUsers().users(encoder);
			return (name) -> {
				if (databaseFails.get()) {
					throw new IllegalStateException("The database fails");
				}
				return users.loadUserByUsername(name);
			};
		}

	}

}
