package io.github.ratelimit.replay;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.Identifier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LogFormatTests {

	private final LogFormat format = new LogFormat(JsonFields.names(List.of("user=account.name", "header:X-Key=key")));

	/** Seconds, address, user, method, path and User-Agent. In lines, ' stands for ". */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					1.2.3.4 - - [17/May/2015:10:05:03 +0000] 'GET /a?b=c HTTP/1.1' 200 5           | 1431857103 | 1.2.3.4 | | GET | /a |
					2001:db8::1 - bob s [17/May/2015:12:05:03 +0200] 'POST / HTTP/1.1' 200 -       | 1431857103 | 2001:db8::1 | bob s | POST | / |
					host - x [17/May/2015:05:35:03 -0430] '-' 400 0 '-' '-'                        | 1431857103 | host | x | | |
					1.2.3.4 - - [17/May/2015:10:05:03 +0000] 'GET /\\'a H/1' 200 5 '-' 'a\\'b' 'x' | 1431857103 | 1.2.3.4 | | GET | /\\'a | a\\'b
					1.2.3.4 - - [17/May/2015:10:05:03 +0000] 'GET http://h/a?b H/1' 2 -            | 1431857103 | 1.2.3.4 | | GET | /a |
					example.org:443 1.2.3.4 - b [17/May/2015:10:05:03 +0000] 'GET /a H/1' 200 5 '-' 'x' | 1431857103 | 1.2.3.4 | b | GET | /a | x
					10.0.0.1:5678 - John Doe [17/May/2015:10:05:03 +0000] 'GET /a H/1' 200 5       | 1431857103 | 10.0.0.1:5678 | John Doe | GET | /a |
					example.org:443 1.2.3.4 - John Doe [17/May/2015:10:05:03 +0000] 'GET /a H/1' 2 5 | 1431857103 | 1.2.3.4 | John Doe | GET | /a |
					1.2.3.4 - - [17/May/2015:10:05:03 +0000] 'GET /cut-of                          | 1431857103 | 1.2.3.4 | | | |
					1.2.3.4 - - [2015-05-17T12:05:03+02:00] '\\x16\\x03' 400 0                      | 1431857103 | 1.2.3.4 | | | |
					""")
	void textHasFields(String line, long seconds, String ip, String user, String method, String path, String agent) {
		assertFields(line, seconds * 1000, ip, user, method, path, agent);
	}

	/** As nginx, Caddy, Traefik, Tomcat and Elastic write it, and with names as told. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					{'time_iso8601':'2015-05-17T12:05:03+02:00','remote_addr':'1.2.3.4','account':{'name':'-'},'request':'GET /a H/1','http_user_agent':'x'} | 1431857103000 | 1.2.3.4 | | GET | /a | x
					{'ts':1431857103.25,'request':{'client_ip':'1.2.3.4','method':'GET','uri':'/a?b','headers':{'User-Agent':['x','y']}}}                   | 1431857103250 | 1.2.3.4 | | GET | /a | x
					{'StartUTC':'2015-05-17T10:05:03.5Z','ClientHost':'1.2.3.4','RequestMethod':'GET','RequestPath':'/a','request_User-Agent':'x'}          | 1431857103500 | 1.2.3.4 | | GET | /a | x
					{'time':'[17/May/2015:10:05:03 +0000]','host':'1.2.3.4','request':'GET /a H/1','requestHeaders':{'User-Agent':'x'}}                     | 1431857103000 | 1.2.3.4 | | GET | /a | x
					{'@timestamp':'2015-05-17 10:05:03.123+0000','clientip':'1.2.3.4','account':{'name':'bob'}}                                             | 1431857103123 | 1.2.3.4 | bob | | |
					{'@timestamp':'2015-05-17T10:05:03Z','source':{'ip':'1.2.3.4'},'url':{'path':'/a'},'http':{'request':{'method':'GET'}}}                 | 1431857103000 | 1.2.3.4 | | GET | /a |
					{'timestamp':1431857103123,'ip':null,'account.name':'bob'}                                                                              | 1431857103123 | | bob | | |
					""")
	void jsonHasFields(String line, long millis, String ip, String user, String method, String path, String agent) {
		assertFields(line, millis, ip, user, method, path, agent);
	}

	private void assertFields(String text, long millis, String ip, String user, String method, String path,
			String agent) {
		LogLine line = this.format.parse(text.replace('\'', '"'));
		assertThat(line.micros()).isEqualTo(millis * 1000);
		assertThat(line.field("ip")).isEqualTo(ip);
		assertThat(line.field("user")).isEqualTo(user);
		assertThat(line.method()).isEqualTo(method);
		assertThat(line.path()).isEqualTo((path != null) ? path.replace('\'', '"') : null);
		assertThat(line.field("header:User-Agent")).isEqualTo((agent != null) ? agent.replace('\'', '"') : null);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			garbage                                        | there is no address with a time in brackets, and no JSON
			1.2.3.4 - - [17/May/2015:10:05:03] 'GET /'     | there is no time with a time zone
			1.2.3.4 - - [17/Foo/2015:10:05:03 +0000] ''    | there is no time with a time zone
			1.2.3.4 - - [17/May/1915:10:05:03 +0000] ''    | Invalid time
			{'time':'2015-05-17T10:05:03'}                 | there is no time with a time zone
			{'ip':'1.2.3.4'}                               | there is no time with a time zone
			{'time':1431857103                             | the JSON is wrong or incomplete
			""")
	void badLineSaysWhy(String line, String reason) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.format.parse(line.replace('\'', '"')))
			.withMessageStartingWith(reason);
	}

	@ParameterizedTest
	@CsvSource({ "ip, 1.2.3.4, ip:1.2.3.4", "ip, ::ffff:1.2.3.4, ip:1.2.3.4",
			"ip, 2001:db8:1:2:3:4:5:6, ip:2001:db8:1:2::/64", "ip, -, null",
			"ip, host.example.org, ip:host.example.org", "ip, 1:x, ip:1:x", "ip, 1.2.3.4:5678, ip:1.2.3.4",
			"ip, 999.1.2.3:80, ip:999.1.2.3", "ip, [2001:db8:1:2:3::1]:443, ip:2001:db8:1:2::/64",
			"ip, [::ffff:1.2.3.4]:443, ip:1.2.3.4", "user, 1.2.3.4, user:bob", "header:X-Key, 1.2.3.4, ip:1.2.3.4",
			"global, 1.2.3.4, global:", "ip+path, 1.2.3.4, ip+path:1.2.3.4+GET /{id}", "method, 1.2.3.4, method:GET" })
	void clientIsIdentifiedAsByPolicies(String by, String ip, String client) {
		LogLine line = new LogLine(0, Map.of("ip", ip, "user", "bob", "request", "HEAD /a?b HTTP/1.1")::get);
		Paths paths = new Paths(List.of("POST /**", "GET /{id}"));
		assertThat(String.valueOf(By.parse(by).identify(line, paths))).isEqualTo(client);
	}

	/** {@code localhost} has an address everywhere, and needs no network. */
	@ParameterizedTest
	@ValueSource(strings = { "[localhost]:443", "[localhost]", "[]:80", "[x:localhost]:1" })
	void nameIsNeverLookedUp(String ip) {
		LogLine line = new LogLine(0, Map.of("ip", ip)::get);
		assertThat(By.parse("ip").identify(line, new Paths(List.of()))).isEqualTo(Identifier.ip(ip));
	}

	@ParameterizedTest
	@CsvSource({ "GET, GET", "HEAD, GET", "TRACE, TRACE", "FOO, *", "get, *" })
	void unknownMethodsCountAsOne(String method, String counted) {
		LogLine line = new LogLine(0, Map.of("request", method + " / HTTP/1.1")::get);
		assertThat(By.parse("method").identify(line, new Paths(List.of()))).hasToString("method:" + counted);
	}

	@ParameterizedTest
	@CsvSource({ "/a/**, GET /a, true", "/a/**, GET /a/b/c, true", "/a/**, GET /ab, false", "/a/*, GET /a/b, true",
			"/a/*, GET /a/b/c, false", "/*.js, GET /x.js, true", "/*.js, GET /xyjs, false", "POST /a, GET /a, false",
			"GET /a, HEAD /a, true", "/u/{id}/x, GET /u/1/x, true", "/u/{id}/x, GET /u/1/2/x, false",
			"/**, GET /, true", "/, GET /, true", "/, GET /a, false", "/a?, GET /ab, true", "/a?, GET /a/, false",
			"/a, GET //a;x=1/, true", "/a/, GET /a, true", "/**/x, GET /a/b/x, true", "/**/x, GET /x, true",
			"/u/{id:[0-9]+}, GET /u/12, true", "/u/{id:[0-9]+}, GET /u/me, false", "/{id:[^.]+}, GET /a/b, false",
			"/{id:.*}, GET /a/b, false", "GET /{a}.{b:js|css}, GET /x.css, true", " /a , GET /a, true" })
	void pathMatchesPattern(String pattern, String request, boolean matches) {
		LogLine line = new LogLine(0, Map.of("request", request + " HTTP/1.1")::get);
		assertThat(new Paths(List.of(pattern)).match(line)).isEqualTo(matches);
	}

	@ParameterizedTest
	@ValueSource(strings = { "a", "/{a", "/a}", "/{a:[}", "/a b", "/{a:b/c}", "get /a", "" })
	void patternThatIsNoneIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> new Paths(List.of(text)))
			.withMessageStartingWith("Invalid path (" + text + "): ");
	}

	@ParameterizedTest
	@ValueSource(strings = { "foo", "ip+", "header:", "ip user", "ip+ip", "header:X-Key+header:x-key" })
	void unknownIdentifierIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> By.parse(text))
			.withMessageStartingWith("Invalid identifier");
	}

}
