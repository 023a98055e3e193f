package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.authentication.TestingAuthenticationToken;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link ExpressionResolver}.
 */
@ExtendWith(OutputCaptureExtension.class)
class ExpressionResolverTests {

	private final MockHttpServletRequest request = new MockHttpServletRequest("GET", "/api");

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			acme     | #request.getHeader('X-Tenant')
			ACME     | #request.getHeader('X-Tenant').toUpperCase()
			GET-80   | #request.method + '-' + #request.serverPort
			80       | #request.serverPort
			none     | #request.getHeader('X-Other') ?: 'none'
			acme     | #principal.claims['tenant']
			2        | #principal.claims['list'].?[#this > 1][0]
			anna     | #request.userPrincipal.name
			""")
	void expressionIsEvaluated(String expected, String expression) {
		this.request.addHeader("X-Tenant", "acme");
		this.request.setUserPrincipal(new TestingAuthenticationToken(new Token("anna"), "secret"));
		assertThat(resolve(expression)).isEqualTo(expected);
	}

	@Test
	void principalIsThatOfRequestWhenThereIsNoAuthentication() {
		this.request.setUserPrincipal(() -> "berta");
		assertThat(resolve("#principal.name")).isEqualTo("berta");
	}

	@ParameterizedTest
	@ValueSource(strings = { "#principal.claims['tenant']", "#principal?.name", "#principal.getName()", "#principal",
			"#request.getHeader('X-Tenant')", "#request.getHeader('X-Tenant').length()", "#request.userPrincipal.name",
			"#request.cookies[0]" })
	void valueIsMissingWhenThereIsNothingToRead(String expression) {
		assertThat(resolve(expression)).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "#request.getAttribute('X').foo", "#request.getHeader('X-Number') / 2" })
	void expressionFailsWhenItAsksForWhatIsNotThere(String expression) {
		this.request.addHeader("X-Number", "1");
		this.request.setAttribute("X", 1);
		assertThatExceptionOfType(SpelEvaluationException.class).isThrownBy(() -> resolve(expression));
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "#request", "#request.session", "#request.locales", "#request.parameterMap", "{#request}" })
	void expressionFailsWhenItsTextWouldDifferFromRequestToRequest(String expression) {
		assertThatIllegalStateException().isThrownBy(() -> resolve(expression))
			.withMessageStartingWith("The value must be text or a number, but is a ");
	}

	@ParameterizedTest
	@ValueSource(strings = { "#", "#principal.", "#principal[", "'", "#request.getHeader('X-Tenant'" })
	void expressionIsRejectedWhenItCannotBeParsed(String expression) {
		assertThatIllegalArgumentException().isThrownBy(() -> new ExpressionResolver(expression))
			.withMessageStartingWith("Invalid expression (%s): EL1", expression);
	}

	@Test
	void expressionIsRejectedWhenItIsEmpty() {
		assertThatIllegalArgumentException().isThrownBy(() -> new ExpressionResolver(""))
			.withMessageStartingWith("Invalid expression (): is empty; ");
	}

	@ParameterizedTest
	@ValueSource(strings = { "T(java.lang.Runtime).runtime + #request.method", "@bean.name + #principal",
			"new String(#request.method)", "#request.method = 'x'", "#request.serverPort++", "--#request.serverPort",
			"#tenant", "#root + #request", "#f(#request)", "#principal.claims[#name]",
			"#request.getHeader(T(String).valueOf('x'))", "{#request.method, T(System)}", "&bean + #request" })
	void expressionIsRejectedWhenItUsesForbiddenSyntax(String expression) {
		assertThatIllegalArgumentException().isThrownBy(() -> new ExpressionResolver(expression))
			.withMessageStartingWith("Invalid expression (%s): ", expression)
			.withMessageEndingWith(
					" is not allowed; it may only read properties and methods of the variables #principal and #request.");
	}

	@ParameterizedTest
	@CsvSource(commentCharacter = '~', delimiter = '|', quoteCharacter = '"',
			textBlock = """
					#request.nothing                         | there is no property 'nothing' in jakarta.servlet.http.HttpServletRequest.
					#request.getHeadr('X')                   | there is no method 'getHeadr' in jakarta.servlet.http.HttpServletRequest, the nearest is 'getHeader'.
					#request.getHeader()                     | there is no method 'getHeader' with 0 arguments in jakarta.servlet.http.HttpServletRequest.
					#request?.getHeader('X')?.lenght()       | there is no method 'lenght' in java.lang.String, the nearest is 'length'.
					#request.cookies[0].valeu                | there is no property 'valeu' in jakarta.servlet.http.Cookie, the nearest is 'value'.
					'a' + {#request.session.idd}             | there is no property 'idd' in jakarta.servlet.http.HttpSession, the nearest is 'id'.
					#principal.claims[#request.metod]        | there is no property 'metod' in jakarta.servlet.http.HttpServletRequest, the nearest is 'method'.
					#request.class                           | there is no property 'class' in jakarta.servlet.http.HttpServletRequest.
					#request.getClass()                      | there is no method 'getClass' in jakarta.servlet.http.HttpServletRequest, the nearest is 'getLocales'.
					""")
	void expressionIsRejectedWhenTypeLacksMember(String expression, String rule) {
		assertThatIllegalArgumentException().isThrownBy(() -> new ExpressionResolver(expression))
			.withMessage("Invalid expression (%s): %s", expression, rule);
	}

	@ParameterizedTest
	@ValueSource(strings = { "tenant", "principal.name", "claims['tenant']" })
	void expressionIsRejectedWhenItReadsNoVariable(String expression) {
		assertThatIllegalArgumentException().isThrownBy(() -> new ExpressionResolver(expression))
			.withMessageContaining(
					" does not follow a variable; it may only read properties and methods of the variables #principal and #request");
	}

	@ParameterizedTest
	@ValueSource(strings = { "'acme'", "42" })
	void expressionIsRejectedWhenItIsConstant(String expression) {
		assertThatIllegalArgumentException().isThrownBy(() -> new ExpressionResolver(expression))
			.withMessage(
					"Invalid expression (%s): must use #request or #principal, or it would be the same for everybody.",
					expression);
	}

	@ParameterizedTest
	@CsvSource({ "#principal.name, true", "#request.method, false", "#request.userPrincipal, true",
			"#request.getUserPrincipal().name, true", "#request.remoteUser, true", "#request['remoteUser'], true",
			"#request.method + #principal, true", "#request.isUserInRole('x'), true",
			"#request.getHeader('principal'), false" })
	void expressionNeedsUserWhenItAsksForUser(String expression, boolean expected) {
		assertThat(new ExpressionResolver(expression).needsUser()).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "#principal.class.classLoader", "#principal.getClass().getName()" })
	void classesCannotBeReached(String expression) {
		this.request.setUserPrincipal(() -> "anna");
		assertThatExceptionOfType(SpelEvaluationException.class).isThrownBy(() -> resolve(expression));
	}

	@Test
	void failureIsLoggedOnceWithoutValue(CapturedOutput output) {
		CustomIdentifier identifier = new CustomIdentifier("tenant", (request) -> {
			throw new IllegalStateException("The token " + request.getHeader("X-Token") + " is odd");
		});
		CustomIdentifier expression = new CustomIdentifier("plan",
				new ExpressionResolver("#request.getAttribute('X').foo"));
		this.request.addHeader("X-Token", "s3cr3t");
		this.request.setAttribute("X", "s3cr3t");
		for (int i = 0; i < 3; i++) {
			assertThat(identifier.resolve(this.request)).isNull();
			assertThat(expression.resolve(this.request)).isNull();
		}
		assertThat(output.toString().split("The identifier tenant counts as missing", -1)).hasSize(2);
		assertThat(output.toString().split("The identifier plan counts as missing", -1)).hasSize(2);
		assertThat(output).contains("java.lang.IllegalStateException")
			.contains("PROPERTY_OR_FIELD_NOT_READABLE")
			.doesNotContain("s3cr3t");
	}

	private String resolve(String expression) {
		return new ExpressionResolver(expression).resolve(this.request);
	}

	static final class Token implements Principal {

		private final String name;

		Token(String name) {
			this.name = name;
		}

		@Override
		public String getName() {
			return this.name;
		}

		public Map<String, Object> getClaims() {
			return Map.of("tenant", "acme", "list", List.of(1, 2));
		}

	}

}
