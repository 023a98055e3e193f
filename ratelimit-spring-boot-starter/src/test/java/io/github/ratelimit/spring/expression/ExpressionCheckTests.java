package io.github.ratelimit.spring.expression;

import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

import io.github.ratelimit.spring.expression.ReadOnlyExpression.Variables;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.mock.web.MockMultipartHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Every expression on every variable: what is refused fails when it is evaluated.
 */
class ExpressionCheckTests {

	private static final List<String> EXPRESSIONS = List.of("", ".length()", ".length", ".name", ".getName()", ".Name",
			".upper()", ".x", ".x()", ".getX()", ".sum()", ".join('a','b')", ".join()", ".over(1)", ".over('s')",
			".over()", ".who.name", ".who.upper()", ".value", ".getValue()", ".value.x", ".all()[0].x",
			".all().get(0).who", ".empty", ".isEmpty()", ".isEmpty", ".URL", ".uRL", ".flag", ".fixed()", ".CONSTANT",
			".more()", ".toString()", ".hashCode()", ".equals('a')", ".getClass()", ".class", ".class.name", ".size()",
			"[0]", "[0].x", "[0].who.name", "['k']", "['k'].x", "[k]", "[k].x", ".k.x", ".get('k')", ".get(0)",
			".get(0).sum()", ".get()", ".present", ".isPresent()", ".ordinal()", ".name()", ".extra()", ".extra",
			".code", ".pub", ".opt('a')", ".opt('a', 1, 2)", ".opt()", ".year", ".plusDays(1).year",
			".mostSignificantBits", ".simpleName", ".intValue()", ".compareTo(1)", ".strip().toUpperCase()",
			".substring(1)", ".substring()", ".bytes.length", ".chars().count()", ".seconds", ".toMillis()",
			".iterator().next()", ".![#this]", ".?[true]", ".![x]", ".?[x > 0].size()", ".charAt(0)", ".lenght()",
			".nmae", "?.name", "?.length()", ".wait()", ".notify()", ".getDeclaringClass()", ".stream().count()",
			".contains('z')", ".isBlank()", ".empty ? 1 : 2", " == 'abc'", " > 0", " + 1", " ?: 3", ".orElse(null).x",
			".value()", ".getDayOfWeek().getValue()", "[0].get(0).x", ".dayOfWeek.value", ".leapYear",
			".value.length()", ".requestURI", ".getFile('f')", ".multiFileMap", ".method");

	private final SpelExpressionParser parser = new SpelExpressionParser();

	private final Map<String, Object> values = new LinkedHashMap<>();

	private final Map<String, Class<?>> types = new LinkedHashMap<>();

	ExpressionCheckTests() {
		Point point = new Point(1, 2, new Final());
		add("two", TwoNames.class, new TwoNames());
		add("servlet", ServletRequest.class, new MockMultipartHttpServletRequest());
		add("http", HttpServletRequest.class, new MockMultipartHttpServletRequest());
		add("noFlag", NoFlag.class, new NoFlag());
		add("user", User.class, new User());
		add("text", String.class, "abc");
		add("number", int.class, 1);
		add("any", Number.class, 5);
		add("array", Point[].class, new Point[] { point });
		add("numbers", int[].class, new int[] { 1, 2 });
		add("point", Point.class, point);
		add("color", Color.class, Color.BLUE);
		add("raw", Enum.class, Color.BLUE);
		add("named", Named.class, new Final());
		add("own", Final.class, new Final());
		add("object", Object.class, "obj");
		add("date", LocalDate.class, LocalDate.of(2026, 1, 1));
		add("uuid", UUID.class, new UUID(1, 2));
		add("type", Class.class, String.class);
		add("sequence", CharSequence.class, "cs");
		add("duration", Duration.class, Duration.ofSeconds(3));
		add("list", List.class, List.of(point));
		add("ids", List.class, List.of(1, 2, 3));
		add("set", Set.class, Set.of("z"));
		add("map", Map.class, Map.of("k", point));
		add("optional", Optional.class, Optional.of(point));
	}

	private void add(String name, Class<?> type, Object value) {
		this.types.put(name, type);
		this.values.put(name, value);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			'#text.lenght()' | method 'lenght' in java.lang.String, the nearest is 'length'
			'#text.lenght' | property 'lenght' in java.lang.String
			'#text.trim().foo()' | method 'foo' in java.lang.String
			'#number.vlaue' | property 'vlaue' in java.lang.Integer
			'#numbers.lenght' | property 'lenght' in int[], the nearest is 'length'
			'#user.nmae' | property 'nmae' in $User, the nearest is 'name'
			'#user.acive' | property 'acive' in $User
			'#user.actiive' | property 'actiive' in $User
			'#user.firstname' | property 'firstname' in $User
			'#user?.nmae' | property 'nmae' in $User
			'#user.getNmae()' | method 'getNmae' in $User
			'#named.nmae' | property 'nmae' in $Named
			'#point.whoo' | property 'whoo' in $Point
			'#point.who.nmae' | property 'nmae' in $Named
			'#array[0].whoo' | property 'whoo' in $Point
			'#list.szie()' | method 'szie' in java.util.List, the nearest is 'size'
			'#number > 1 ? #user.nmae : 7' | property 'nmae' in $User
			'#text.concat(#user.nmae)' | property 'nmae' in $User
			'#noFlag.flag' | property 'flag' in $NoFlag, the nearest is 'isFlag'
			'#list.![#user.nmae]' | property 'nmae' in $User
			""")
	void misspeltNameIsRefusedWhenTypeIsKnown(String text, String reason) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse(text))
			.withMessageStartingWith("Invalid expression (" + text + "): there is no ")
			.withMessageContaining(reason.replace("$", getClass().getName() + '$'));
	}

	@ParameterizedTest
	@CsvSource(commentCharacter = '~', delimiter = '|', quoteCharacter = '"', textBlock = """
			#a5.x                      | #a5 is not allowed; it may only read properties and methods of the variables
			number / 2                 | number does not follow a variable; it may only read
			#number.compareTo(size())  | size() does not follow a variable
			T(Math).max(1, #number)    | T(Math) is not allowed; it may only read
			new Integer(1)             | is not allowed; it may only read
			@prices.of(#number)        | @prices is not allowed
			#number = 5                | is not allowed; it may only read
			#number++                  | is not allowed; it may only read
			#price(#number)            | is not allowed; it may only read
			#root                      | #root is not allowed
			#number +                  | Invalid expression (#number +):
			#                          | Invalid expression (#):
			""")
	void whatDoesNotOnlyReadVariablesIsRefused(String text, String reason) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse(text)).withMessageContaining(reason);
	}

	@ParameterizedTest
	@CsvSource(commentCharacter = '~', delimiter = '|', textBlock = """
			#number > 5 ? 1 : 2
			#ids.?[#this > 1].size()
			#ids.![intValue()].size() + #number
			{1, 2}.size() + {a: 1}['a'].intValue()
			#map['none'] ?: 3
			#list?.size() ?: 1
			#array.length
			7
			""")
	void whatOnlyReadsVariablesIsEvaluated(String text) {
		assertThat(parse(text).evaluate(this.values, Object.class)).isInstanceOf(Integer.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "#object.anything", "#object.anything()", "#map.anything", "#map['anything'].more",
			"#optional?.anything", "#named.tenant", "#named.names", "#user.tenant", "#user.nane", "#user.nme",
			"#user.isActive(1)", "#user.Name", "#user['nmae']", "#user.describe().anything", "#named.hashCode()",
			"#list.![customr]", "#list.?[customr == 1]", "#list[0].nmae", "#user.value.nmae", "#user.all()[0].nmae",
			"#type.anything", "#text[0]", "#number.toString().length()", "{1, 2}.szie()" })
	void nameIsAcceptedWhenSomeObjectMayHaveIt(String text) {
		assertThat(parse(text)).hasToString(text);
	}

	@Test
	void onlyExpressionsThatFailAreRefused() {
		List<String> refused = new ArrayList<>();
		for (String name : this.types.keySet()) {
			for (String expression : EXPRESSIONS) {
				String text = "#" + name + expression;
				try {
					parse(text);
				}
				catch (IllegalArgumentException ex) {
					refused.add(text);
				}
			}
		}
		assertThat(refused).hasSizeGreaterThan(200)
			.contains("#text.lenght()", "#text.class", "#noFlag.flag", "#point.getClass()", "#point.over()",
					"#own.nmae", "#array.lenght()", "#named.nmae")
			.allSatisfy((text) -> assertThatExceptionOfType(EvaluationException.class).as(text)
				.isThrownBy(() -> evaluate(text)));
	}

	private ReadOnlyExpression parse(String text) {
		return ReadOnlyExpression.parse("expression", text, new Variables(this.types, "the variables", false));
	}

	private Object evaluate(String text) {
		SimpleEvaluationContext context = SimpleEvaluationContext.forReadOnlyDataBinding()
			.withInstanceMethods()
			.build();
		this.values.forEach(context::setVariable);
		return this.parser.parseRaw(text).getValue(context);
	}

	public static class User {

		public Object value = "s";

		public List<Object> all() {
			return List.of(this.value);
		}

		public boolean isEmpty() {
			return false;
		}

		public String getURL() {
			return "u";
		}

		public Boolean getFlag() {
			return true;
		}

		public String getName() {
			return "";
		}

		public String getFirstName() {
			return "";
		}

		public boolean isActive() {
			return true;
		}

		public Object describe() {
			return this;
		}

	}

	/** The property of the getter is the one that is read. */
	public static final class TwoNames {

		public String value() {
			return "s";
		}

		public Point getValue() {
			return new Point(1, 2, new Final());
		}

		public int isX() {
			return 1;
		}

		public Point x() {
			return getValue();
		}

	}

	public enum Color {

		RED, BLUE {

			@Override
			public String extra() {
				return "b";
			}

		};

		public final int code = 7;

		public String extra() {
			return "x";
		}

	}

	public interface Named {

		String getName();

		default String upper() {
			return getName().toUpperCase();
		}

	}

	public record Point(int x, int y, Named who) {

		public int sum() {
			return this.x + this.y;
		}

		public String join(String... parts) {
			return String.join(",", parts);
		}

		public int over(int number) {
			return number;
		}

		public long over(String text) {
			return text.length();
		}

	}

	public static final class Final implements Named {

		public final int pub = 3;

		@Override
		public String getName() {
			return "final";
		}

		public String opt(String text, Object... more) {
			return text + more.length;
		}

	}

	/** Its method is no getter. */
	public static final class NoFlag {

		public String isFlag() {
			return "no";
		}

	}

}
