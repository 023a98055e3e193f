package io.github.ratelimit.spring.web.identify;

import java.security.Principal;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.spring.web.address.AddressResolver;
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
 * Tests for {@link RequestExpression}.
 */
@ExtendWith(OutputCaptureExtension.class)
class RequestExpressionTests {

	private final MockHttpServletRequest request = new MockHttpServletRequest("GET", "/api");

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			acme     | #request.getHeader('X-Tenant')
			ACME     | #request.getHeader('X-Tenant').toUpperCase()
			GET-80   | #request.method + '-' + #request.serverPort
			80       | #request.serverPort
			none     | #request.getHeader('X-Other') ?: 'none'
			a b      | #query['q']
			a b      | #query[q]
			acme     | #principal.claims[tenant]
			a b      | #query.get('q')
			1        | #query.size()
			false    | #query.containsKey('other')
			acme     | #principal.claims['tenant']
			2        | #principal.claims['list'].?[#this > 1][0]
			anna     | #request.userPrincipal.name
			""")
	void expressionIsEvaluated(String expected, String expression) {
		this.request.addHeader("X-Tenant", "acme");
		this.request.setQueryString("q=a+b&q=c");
		this.request.setUserPrincipal(new TestingAuthenticationToken(new Token("anna"), "secret"));
		assertThat(resolve(expression)).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "#principal.claims['tenant']", "#principal?.name", "#principal.getName()", "#principal",
			"#request.getHeader('X-Tenant')", "#query['q']", "#query['q'].toLowerCase()",
			"#request.getHeader('X-Tenant').length()", "#request.userPrincipal.name", "#request.cookies[0]",
			"#principal?.parts", "#request.getHeader('part')", "#query['parameterMap']" })
	void valueIsMissingWhenThereIsNothingToRead(String expression) {
		assertThat(resolve(expression)).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "#request.getAttribute('X').foo", "#request.getHeader('X-Number') / 2",
			"#principal.class.classLoader", "#principal.getClass().getName()" })
	void expressionFailsWhenItAsksForWhatIsNotThere(String expression) {
		this.request.addHeader("X-Number", "1");
		this.request.setAttribute("X", 1);
		this.request.setUserPrincipal(() -> "anna");
		assertThatExceptionOfType(SpelEvaluationException.class).isThrownBy(() -> resolve(expression));
	}

	@ParameterizedTest
	@ValueSource(strings = { "#request", "#request.session", "#request.locales", "#query", "{#request}" })
	void expressionFailsWhenItsTextDiffersBetweenRequests(String expression) {
		assertThatIllegalStateException().isThrownBy(() -> resolve(expression))
			.withMessageStartingWith("The value must be text or a number, but is a ");
	}

	@ParameterizedTest
	@ValueSource(strings = { "T(java.lang.Runtime).runtime + #request.method", "#request.method = 'x'", "#tenant",
			"--#request.serverPort", "#principal.claims[#name]", "#request.getHeader(T(String).valueOf('x'))",
			"{#request.method, T(System)}", "&bean + #request", "#request.#principal", "#request.#function('x')" })
	void expressionIsRejectedWhenItUsesForbiddenSyntax(String expression) {
		assertThatIllegalArgumentException().isThrownBy(() -> RequestExpression.ofIdentifier(expression))
			.withMessageStartingWith("Invalid expression (%s): ", expression)
			.withMessageEndingWith(
					" is not allowed; it may only read properties and methods of the variables #principal, #query and #request.");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			#request.getParameter('q')                       | getParameter
			#request?.getParameterValues('q')[0]             | getParameterValues
			#request.parameterMap['q'][0]                    | parameterMap
			#request['parameterMap']['q']                    | parameterMap
			#request.parameterNames.nextElement()            | parameterNames
			#request.inputStream.read()                      | inputStream
			#request.reader.readLine()                       | reader
			#request.getParts()[0].name                      | getParts
			#principal.claims[#request.getPart('q').name]    | getPart
			'a' + {#request.getReader().readLine()}          | getReader
			""")
	void expressionIsRejectedWhenItReadsBody(String expression, String member) {
		assertThatIllegalArgumentException().isThrownBy(() -> RequestExpression.ofIdentifier(expression))
			.withMessage(
					"Invalid expression (%s): %s reads the body, which handlers would miss; #query has the parameters of the query, as #query['name'].",
					expression, member);
	}

	@ParameterizedTest
	@CsvSource({ "#principal.name, true", "#request.method, false", "#request.userPrincipal, true",
			"#request.getUserPrincipal().name, true", "#request.remoteUser, true", "#request['remoteUser'], true",
			"#request.method + #principal, true", "#request.isUserInRole('x'), true",
			"#request.getHeader('principal'), false" })
	void expressionNeedsUserWhenItAsksForUser(String expression, boolean expected) {
		assertThat(RequestExpression.ofIdentifier(expression).needsUser()).isEqualTo(expected);
	}

	@Test
	void failureIsLoggedOnceWithoutValue(CapturedOutput output) {
		RequestIdentifiers identifiers = new RequestIdentifiers(new AddressResolver(64, null),
				Map.of("tenant", IdentifierKind.own("tenant", () -> (request) -> {
					throw new IllegalStateException("The token " + request.getHeader("X-Token") + " is odd");
				}), "plan",
						IdentifierKind.own("plan", RequestExpression.ofIdentifier("#request.getAttribute('X').foo"))));
		this.request.addHeader("X-Token", "s3cr3t");
		this.request.setAttribute("X", "s3cr3t");
		for (int i = 0; i < 3; i++) {
			assertThat(identifiers.find("tenant", this.request)).isNull();
			assertThat(identifiers.find("plan", this.request)).isNull();
		}
		assertThat(output.toString().split("The identifier tenant counts as missing", -1)).hasSize(2);
		assertThat(output.toString().split("The identifier plan counts as missing", -1)).hasSize(2);
		assertThat(output).contains("java.lang.IllegalStateException")
			.contains("PROPERTY_OR_FIELD_NOT_READABLE")
			.doesNotContain("s3cr3t");
	}

	private String resolve(String expression) {
		return RequestExpression.ofIdentifier(expression).text(this.request);
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
