package io.github.ratelimit.spring.web;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Random;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests made up at random, byte by byte: whatever a client sends, it gets an answer
 * that is not the server's fault, the log stays quiet, and Redis has no key but those of
 * the limiter, which are short and expire.
 * <p>
 * The system property {@code ratelimit.hostile.requests} says how many there are.
 */
@ExtendWith(OutputCaptureExtension.class)
class HostileRequestIT {

	private static final int REQUESTS = Integer.getInteger("ratelimit.hostile.requests", 5000);

	/** Two parts of at most 64 characters or a hash each, the prefix, and the policy. */
	private static final int LONGEST_KEY = 300;

	private static final String CHARACTERS = ",;=\"\\ \t:[]%./_-+*{}()#'$&?<>@!|~^`abcdefFOR0123456789\u00e9\u00ff\u007f\u0001";

	private final Random random = new Random(42);

	@Test
	void nothingThatIsSentBreaksTheServer(CapturedOutput output) throws IOException {
		try (OwnRedis redis = OwnRedis.started(); UnifiedJedis jedis = RedisClient.create("127.0.0.1", redis.port())) {
			for (String header : new String[] { "x-forwarded-for", "forwarded" }) {
				try (TestApplication application = start(redis.port(), header)) {
					for (int i = 0; i < REQUESTS / 2; i++) {
						byte[] request = request();
						String status = send(application, request);
						assertThat(status).as(() -> new String(request, StandardCharsets.ISO_8859_1))
							.matches("HTTP/1.1 [24]\\d\\d.*");
					}
				}
			}
			assertThat(jedis.keys("*")).hasSizeGreaterThan(100)
				.allSatisfy((key) -> assertThat(key).startsWith("ratelimit:{").hasSizeLessThan(LONGEST_KEY));
			assertThat(jedis.info("keyspace")).matches("(?s).*db0:keys=(\\d+),expires=\\1,.*");
		}
		assertThat(output).doesNotContain("Servlet.service()");
		// What Testcontainers looks for and does not find is about the test.
		assertThat(output.getOut()
			.lines()
			.filter((line) -> (line.contains(" WARN ") || line.contains(" ERROR "))
					&& !line.contains("org.testcontainers") && !line.contains("ratelimit.allow")))
			.hasSize(2)
			.allSatisfy((line) -> assertThat(line)
				.contains("The identifier odd counts as missing, because its resolver failed: "));
	}

	private TestApplication start(int port, String header) {
		return TestApplication.startWithOwnLimiter(Application.class, "ratelimit.redis.url=redis://127.0.0.1:" + port,
				"ratelimit.redis.timeout=10s", "ratelimit.key-prefix=ratelimit",
				"ratelimit.ip.trusted-proxies=127.0.0.0/8,10.0.0.0/8", "ratelimit.ip.forwarded-header=" + header,
				"ratelimit.identifiers.odd=#request.getHeader('X-Odd').substring(9)",
				"ratelimit.identifiers.tenant=#request.getHeader('X-Odd')", "ratelimit.policies.api.paths=/api/**",
				"ratelimit.policies.api.limits=1000000/m", "ratelimit.policies.api.algorithm=fixed-window",
				"ratelimit.policies.api.identifiers=ip,user,header:X-Odd,cookie:session,path,method,odd,tenant,ip+cookie:session+path",
				"ratelimit.deny=header:X-Odd:never,cookie:session:never,ip:203.0.113.0/24,tenant:never",
				"ratelimit.allow=cookie:odd:never,user:never");
	}

	private byte[] request() {
		String[] methods = { "GET", "HEAD", "POST", "FETCH", "OPTIONS" };
		StringBuilder request = new StringBuilder(methods[this.random.nextInt(methods.length)]);
		request.append(" /api/").append(text(20)).append(" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
		String[] headers = { "X-Forwarded-For", "Forwarded", "X-Odd", "Cookie", "Authorization" };
		int count = this.random.nextInt(8);
		for (int i = 0; i < count; i++) {
			String header = headers[this.random.nextInt(headers.length)];
			request.append(header).append(": ").append(value(header)).append("\r\n");
		}
		return request.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
	}

	private String value(String header) {
		return switch (this.random.nextInt(4)) {
			case 0 -> text(60);
			case 1 -> text(5).repeat(1 + this.random.nextInt(200));
			case 2 -> header.equals("Cookie") ? "session=" + text(30) : "10.1.1.1, " + text(10) + ", 10.2.2.2";
			default -> header.equals("Cookie") ? "session=" + text(5).repeat(400)
					: "for=\"" + text(10) + "\";by=" + text(4) + ",for=10.0.0.1";
		};
	}

	private String text(int longest) {
		StringBuilder text = new StringBuilder();
		int length = this.random.nextInt(longest);
		for (int i = 0; i < length; i++) {
			text.append(CHARACTERS.charAt(this.random.nextInt(CHARACTERS.length())));
		}
		return text.toString();
	}

	/** Returns the status line. */
	private static String send(TestApplication application, byte[] request) throws IOException {
		try (Socket socket = application.connect()) {
			socket.getOutputStream().write(request);
			return String
				.valueOf(new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1))
					.readLine());
		}
	}

	@OpenApplication
	@RestController
	static class Application {

		@RateLimited(limits = "1000000/m", algorithm = "fixed-window",
				identifiers = { "path", "cookie:session", "header:X-Odd", "method", "ip+tenant" })
		@RequestMapping("/api/{x}")
		String get() {
			return "served";
		}

	}

}
