package io.github.ratelimit.spring.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.ServletException;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A request is charged once for each policy, however it is dispatched, and denied calls
 * of methods are answered as denied paths are.
 */
@EachContainer
class RateLimitDispatchIT {

	@Parameter
	Container container;

	private static TestApplication application;

	@BeforeParameterizedClassInvocation
	static void start(Container container) {
		application = TestApplication.start(container, Application.class, "ratelimit.policies.path.paths=/path/**",
				"ratelimit.policies.path.limits=2/m", "ratelimit.policies.other.limits=4/m",
				"ratelimit.policies.same.paths=/same/**", "ratelimit.policies.same.limits=3/m",
				"ratelimit.policies.dear.paths=/dear,/dear/*", "ratelimit.policies.dear.limits=10/m",
				"ratelimit.policies.dear.cost=2", "ratelimit.policies.priced.paths=/priced/cheap",
				"ratelimit.policies.priced.limits=10/m", "ratelimit.policies.priced.routes[0].paths=/priced/dear",
				"ratelimit.policies.priced.routes[0].cost=5");
	}

	@AfterParameterizedClassInvocation
	static void stop() {
		application.close();
	}

	@BeforeEach
	void forget() {
		application.forget();
	}

	@ParameterizedTest
	@CsvSource({ "/path/plain, 200", "/path/callable, 200", "/path/deferred, 200", "/path/forward, 200",
			"/path/include, 200", "/path/stream, 200", "/path/events, 200", "/path/committed, 200",
			"/path/timeout, 503", "/path/callable/error, 500", "/path/error, 500", "/path/send-error, 418",
			"/path/missing, 404" })
	void requestIsChargedOnceHoweverItIsDispatched(String path, int status) {
		HttpResponse<String> first = application.get(path);
		assertThat(first.statusCode()).isEqualTo(status);
		assertThat(first.headers().firstValue("X-Rate-Limit-Remaining")).hasValue("1");
		assertThat(application.decisions()).isEqualTo(1);
		assertThat(application.get(path).headers().firstValue("X-Rate-Limit-Remaining")).hasValue("0");
		assertThat(application.get(path).statusCode()).isEqualTo(429);
		assertThat(application.decisions()).isEqualTo(3);
	}

	@ParameterizedTest
	@CsvSource({ "/same/callable, 200, 1", "/same/deferred, 200, 1", "/same/forward, 200, 2", "/same/include, 200, 2",
			"/same/stream, 200, 1", "/same/events, 200, 1", "/same/error, 500, 1" })
	void pathIsChargedOnceAndAnnotationForEachCallHoweverRequestIsDispatched(String path, int status, int calls) {
		HttpResponse<String> first = application.get(path);
		assertThat(first.statusCode()).isEqualTo(status);
		// What is included cannot write headers.
		int told = path.endsWith("include") ? 1 : calls;
		assertThat(first.headers().allValues("RateLimit"))
			.containsExactly("\"same\";r=%d;t=60".formatted(3 - 1 - told));
		assertThat(application.decisions()).isEqualTo(1 + calls);
	}

	@ParameterizedTest
	@CsvSource({ "/priced/cheap, 1", "/priced/cheap?forward=dear, 1", "/priced/dear, 5",
			"/priced/dear?forward=cheap, 5" })
	void forwardedRequestPaysThePriceOfItsFirstPath(String path, int cost) {
		assertThat(application.get(path).body()).isEqualTo("served");
		application.assertUsed("priced", cost);
		assertThat(application.decisions()).isEqualTo(1);
	}

	@ParameterizedTest
	@CsvSource({ "GET, 200", "HEAD, 200", "OPTIONS, 200", "POST, 405" })
	void everyMethodIsChargedOnce(String method, int status) {
		HttpResponse<String> response = application.send(method, "/path/plain");
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(application.decisions()).isEqualTo(1);
		assertThat(application.get("/path/plain").headers().firstValue("X-Rate-Limit-Remaining")).hasValue("0");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/path/stream", "/path/events", "/path/committed" })
	void headersComeBeforeBodyThatIsStreamed(String path) {
		HttpResponse<String> response = application.get(path);
		assertThat(response.body()).contains("served");
		assertThat(response.headers().map()).containsKeys("ratelimit", "ratelimit-policy", "x-rate-limit-limit");
		assertThat(response.headers().map()).doesNotContainKey("content-length");
	}

	@Test
	void methodsCalledInParallelForOneRequestAllCount() {
		HttpResponse<String> response = application.get("/parallel");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.body()).isEqualTo("[called] x 16");
		assertThat(application.decisions()).isEqualTo(16);
		HttpResponse<String> after = application.get("/parallel/one");
		for (HttpResponse<String> each : List.of(response, after)) {
			assertThat(each.headers().allValues("RateLimit")).hasSize(1);
			assertThat(each.headers().allValues("X-Rate-Limit-Limit")).containsExactly("1000");
		}
		assertThat(after.headers().allValues("RateLimit").get(0)).contains("\"Parallel.first\";r=991;",
				"\"Parallel.second\";r=991;");
	}

	@Test
	void callThatOutlivesItsRequestIsHarmless() throws Exception {
		LateController.mayCall = new CountDownLatch(1);
		LateController.outcome = new CompletableFuture<>();
		HttpResponse<String> response = application.get("/late");
		assertThat(response.statusCode()).isEqualTo(200);
		LateController.mayCall.countDown();
		String outcome = LateController.outcome.get(10, TimeUnit.SECONDS);
		// The exceptions of Tomcat and Jetty for a request that is over.
		assertThat(outcome).isIn("called", "java.lang.IllegalStateException", "java.lang.NullPointerException");
		assertThat(application.get("/path/plain").headers().allValues("RateLimit"))
			.containsExactly("\"path\";r=1;t=60");
	}

	@Test
	void asynchronousCallIsCountedByTheRequestThatCalls() {
		assertThat(application.get("/async", "X-Client", "anna").body()).isEqualTo("called");
		assertThat(application.get("/async", "X-Client", "anna").body()).isEqualTo("called");
		assertThat(application.get("/async", "X-Client", "anna").statusCode()).isEqualTo(429);
		assertThat(application.get("/async", "X-Client", "bert").body()).isEqualTo("called");
	}

	@Test
	void callOutsideOfRequestsIsCountedGlobally() throws Exception {
		AsyncService service = application.bean(AsyncService.class);
		assertThat(application.get("/async").body()).isEqualTo("called");
		assertThat(application.get("/async").body()).isEqualTo("called");
		assertThat(service.call().get(10, TimeUnit.SECONDS)).isEqualTo("called");
		assertThat(
				CompletableFuture.supplyAsync(service::call).thenCompose((result) -> result).get(10, TimeUnit.SECONDS))
			.isEqualTo("called");
		assertThat(service.call()).failsWithin(Duration.ofSeconds(10))
			.withThrowableThat()
			.withCauseInstanceOf(RateLimitExceededException.class);
		assertThat(application.get("/async", "X-Client", "anna").body()).isEqualTo("called");
	}

	/** Jetty closes the connection if not all of the upload has arrived. */
	@Test
	void connectionIsReusedWhenUploadIsDenied() throws IOException {
		useUp();
		int size = (this.container == Container.TOMCAT) ? 1_000_000 : 8_000;
		try (Socket socket = new Socket("127.0.0.1", application.port())) {
			for (int i = 0; i < 3; i++) {
				upload(socket, size, false);
				assertThat(readHead(socket)).startsWith("HTTP/1.1 429");
			}
		}
	}

	@Test
	void clientThatAsksBeforeUploadReadsDenialInstead() throws IOException {
		useUp();
		try (Socket socket = new Socket("127.0.0.1", application.port())) {
			upload(socket, 100_000_000, true);
			if (this.container == Container.TOMCAT) {
				// By default, it sends this before any filter runs.
				assertThat(readHead(socket)).startsWith("HTTP/1.1 100");
			}
			assertThat(readHead(socket)).startsWith("HTTP/1.1 429").contains("Retry-After: 60", "Connection: close");
		}
	}

	/** Jetty closes the connection without a header. */
	@Test
	void clientReadsDenialOfHugeUpload() throws IOException {
		useUp();
		try (Socket socket = new Socket("127.0.0.1", application.port())) {
			upload(socket, 100_000_000, false, 10_000);
			String head = readHead(socket);
			assertThat(head).startsWith("HTTP/1.1 429").contains("Retry-After: 60");
			if (this.container == Container.TOMCAT) {
				assertThat(head).contains("Connection: close");
			}
		}
	}

	private static void useUp() {
		application.get("/path/plain");
		application.get("/path/plain");
	}

	private static void upload(Socket socket, int size, boolean asks) throws IOException {
		upload(socket, size, asks, asks ? 0 : size);
	}

	private static void upload(Socket socket, int size, boolean asks, int sent) throws IOException {
		socket.setSoTimeout(20_000);
		ByteArrayOutputStream request = new ByteArrayOutputStream();
		request.write("POST /path/plain HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n"
			.formatted(size, asks ? "Expect: 100-continue\r\n" : "")
			.getBytes(StandardCharsets.US_ASCII));
		request.write(new byte[sent]);
		request.writeTo(socket.getOutputStream());
	}

	/** Reads a response, and returns its head. */
	private static String readHead(Socket socket) throws IOException {
		InputStream input = socket.getInputStream();
		StringBuilder head = new StringBuilder();
		while (head.indexOf("\r\n\r\n") < 0) {
			int octet = input.read();
			assertThat(octet).as(head.toString()).isNotNegative();
			head.append((char) octet);
		}
		if (head.toString().startsWith("HTTP/1.1 100")) {
			return head.toString();
		}
		Matcher length = Pattern.compile("(?i)content-length: (\\d+)").matcher(head);
		if (length.find()) {
			input.readNBytes(Integer.parseInt(length.group(1)));
		}
		else {
			StringBuilder chunks = new StringBuilder();
			while (chunks.indexOf("\r\n0\r\n\r\n") < 0) {
				int octet = input.read();
				assertThat(octet).as(head + chunks.toString()).isNotNegative();
				chunks.append((char) octet);
			}
		}
		return head.toString();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/service", "/service/callable", "/service/writer", "/service/wrapped" })
	void callOfServiceIsAnsweredCompletelyWhenItIsDenied(String path) {
		HttpResponse<String> allowed = application.get(path);
		assertThat(allowed.statusCode()).isEqualTo(200);
		HttpResponse<String> denied = application.get(path);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		assertThat(denied.headers().allValues("Cache-Control")).containsExactly("no-store");
		assertThat(denied.headers().firstValue("Content-Type"))
			.hasValueSatisfying((type) -> assertThat(type).startsWith("application/problem+json"));
		assertThat(denied.headers().allValues("RateLimit-Policy")).containsExactly("\"Service.call\";q=1;w=60");
		assertThat(denied.headers().allValues("RateLimit")).containsExactly("\"Service.call\";r=0;t=60");
		assertThat(denied.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("0");
		assertThat(JsonMapper.shared().readTree(denied.body()).path("violated-policies"))
			.hasToString("[\"Service.call\"]");
	}

	@Test
	void policyOfPathAndAnnotationIsChargedTwiceWhenItIsTheSame() {
		HttpResponse<String> first = application.get("/same");
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(first.headers().allValues("RateLimit")).containsExactly("\"same\";r=1;t=60");
		assertThat(application.get("/same").statusCode()).isEqualTo(429);
	}

	@Test
	void annotationIsDeniedWhenThePathHasLeftTooLittle() {
		for (int i = 0; i < 3; i++) {
			assertThat(application.get("/dear").statusCode()).isEqualTo(200);
		}
		HttpResponse<String> denied = application.get("/dear/5");
		assertThat(denied.statusCode()).isEqualTo(429);
		// What the path has paid stays paid.
		assertThat(denied.headers().allValues("RateLimit")).containsExactly("\"dear\";r=2;t=60");
	}

	@Test
	void annotationPaysInFullWhenItHasOtherIdentifiers() {
		HttpResponse<String> first = application.get("/dear/other", "X-User", "anna");
		assertThat(first.headers().allValues("RateLimit")).containsExactly("\"dear\";r=6;t=60");
		assertThat(application.decisions()).isEqualTo(2);
		assertThat(application.get("/dear/other", "X-User", "anna").statusCode()).isEqualTo(200);
		assertThat(application.get("/dear/other", "X-User", "anna").statusCode()).isEqualTo(429);
		assertThat(application.get("/dear/other", "X-User", "berta").statusCode()).isEqualTo(200);
	}

	@Test
	void secondCallPaysAgainWhenPathHasNotPaidForIt() {
		assertThat(application.get("/service/twice").statusCode()).isEqualTo(429);
	}

	@Test
	void policiesOfPathAndAnnotationAreChargedEachWhenTheyDiffer() {
		HttpResponse<String> first = application.get("/path/annotated");
		assertThat(first.headers().allValues("RateLimit")).containsExactly("\"path\";r=1;t=60, \"other\";r=3;t=60");
		assertThat(first.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("1");
	}

	@Test
	void handlerOfApplicationAnswersDeniedCall() {
		assertThat(application.get("/handled").statusCode()).isEqualTo(200);
		HttpResponse<String> denied = application.get("/handled");
		assertThat(denied.statusCode()).isEqualTo(503);
		assertThat(denied.body()).isEqualTo("Rate limit exceeded: HandlingController.handled (1/m)");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { ServletWebSecurityAutoConfiguration.class, UserDetailsServiceAutoConfiguration.class })
	@EnableAsync
	@Import({ Service.class, Parallel.class, AsyncService.class, PathController.class, SameController.class,
			ParallelController.class, LateController.class, AsyncController.class, ServiceController.class,
			HandlingController.class })
	static class Application {

	}

	static class Service {

		@RateLimited(limits = "1/m")
		public String call() {
			return "called";
		}

	}

	@Controller
	static class PathController {

		@GetMapping("/path/plain")
		@ResponseBody
		String plain() {
			return "served";
		}

		@GetMapping("/path/callable")
		@ResponseBody
		Callable<String> callable() {
			return () -> "served";
		}

		@GetMapping("/path/deferred")
		@ResponseBody
		DeferredResult<String> deferred() {
			DeferredResult<String> result = new DeferredResult<>();
			new Thread(() -> result.setResult("served")).start();
			return result;
		}

		@GetMapping("/path/include")
		void include(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
			request.getRequestDispatcher("/path/plain").include(request, response);
		}

		@GetMapping("/path/stream")
		StreamingResponseBody stream() {
			return streamed();
		}

		@GetMapping("/path/events")
		SseEmitter events() throws IOException {
			return sent();
		}

		@GetMapping("/path/committed")
		void committed(HttpServletResponse response) throws IOException {
			response.getWriter().write("served");
			response.flushBuffer();
		}

		@GetMapping("/path/timeout")
		DeferredResult<String> timeout() {
			// Jetty loses a time-out that comes while it is being scheduled.
			return new DeferredResult<>(300L);
		}

		@GetMapping("/path/callable/error")
		@ResponseBody
		Callable<String> callableError() {
			return () -> {
				throw new IllegalStateException("expected by this test");
			};
		}

		@GetMapping({ "/priced/cheap", "/priced/dear" })
		@ResponseBody
		String priced() {
			return "served";
		}

		@GetMapping(path = { "/priced/cheap", "/priced/dear" }, params = "forward")
		String forwardPriced(@RequestParam String forward, HttpServletRequest request) {
			return (request.getDispatcherType() == DispatcherType.FORWARD) ? "forward:/priced/served"
					: "forward:/priced/" + forward;
		}

		@GetMapping("/priced/served")
		@ResponseBody
		String servedPriced() {
			return "served";
		}

		@GetMapping("/path/forward")
		String forward() {
			return "forward:/path/plain";
		}

		@GetMapping("/path/error")
		String error() {
			throw new IllegalStateException("expected by this test");
		}

		@GetMapping("/path/send-error")
		void sendError(HttpServletResponse response) throws IOException {
			response.sendError(418);
		}

		@GetMapping("/path/annotated")
		@ResponseBody
		@RateLimited("other")
		public String annotated() {
			return "served";
		}

		@GetMapping("/dear")
		@ResponseBody
		String dear() {
			return "served";
		}

		@GetMapping("/dear/5")
		@ResponseBody
		@RateLimited(policy = "dear", cost = 5)
		String dearer() {
			return "served";
		}

		@GetMapping("/dear/other")
		@ResponseBody
		@RateLimited(policy = "dear", cost = 4, identifiers = "header:X-User")
		String other() {
			return "served";
		}

		@GetMapping("/same")
		@ResponseBody
		@RateLimited("same")
		public String same() {
			return "served";
		}

	}

	static StreamingResponseBody streamed() {
		return (output) -> {
			output.write("served".getBytes(StandardCharsets.UTF_8));
			output.flush();
		};
	}

	static SseEmitter sent() throws IOException {
		SseEmitter emitter = new SseEmitter();
		emitter.send("served");
		emitter.complete();
		return emitter;
	}

	@Controller
	@RateLimited("same")
	static class SameController {

		@GetMapping("/same/callable")
		@ResponseBody
		public Callable<String> callable() {
			return () -> "served";
		}

		@GetMapping("/same/deferred")
		@ResponseBody
		public DeferredResult<String> deferred() {
			DeferredResult<String> result = new DeferredResult<>();
			new Thread(() -> result.setResult("served")).start();
			return result;
		}

		@GetMapping("/same/target")
		@ResponseBody
		public String target() {
			return "served";
		}

		@GetMapping("/same/forward")
		public String forward() {
			return "forward:/same/target";
		}

		@GetMapping("/same/include")
		public void include(HttpServletRequest request, HttpServletResponse response)
				throws ServletException, IOException {
			request.getRequestDispatcher("/same/target").include(request, response);
		}

		@GetMapping("/same/stream")
		public StreamingResponseBody stream() {
			return streamed();
		}

		@GetMapping("/same/events")
		public SseEmitter events() throws IOException {
			return sent();
		}

		@GetMapping("/same/error")
		public String error() {
			throw new IllegalStateException("expected by this test");
		}

	}

	static class Parallel {

		@RateLimited(limits = "1000/m")
		public String first() {
			return "called";
		}

		@RateLimited(limits = "1000/m")
		public String second() {
			return "called";
		}

	}

	@RestController
	static class ParallelController {

		private final Parallel service;

		ParallelController(Parallel service) {
			this.service = service;
		}

		@GetMapping("/parallel")
		String parallel() throws Exception {
			RequestAttributes attributes = RequestContextHolder.currentRequestAttributes();
			ExecutorService threads = Executors.newFixedThreadPool(16);
			CyclicBarrier start = new CyclicBarrier(16);
			try {
				List<Future<String>> calls = new ArrayList<>();
				for (int i = 0; i < 16; i++) {
					boolean first = i % 2 == 0;
					calls.add(threads.submit(() -> {
						RequestContextHolder.setRequestAttributes(attributes);
						start.await();
						return first ? this.service.first() : this.service.second();
					}));
				}
				Set<String> results = new HashSet<>();
				for (Future<String> call : calls) {
					results.add(call.get());
				}
				return results + " x " + calls.size();
			}
			finally {
				threads.shutdown();
			}
		}

		@GetMapping("/parallel/one")
		String one() {
			this.service.first();
			return this.service.second();
		}

	}

	@RestController
	static class LateController {

		private static volatile CountDownLatch mayCall = new CountDownLatch(1);

		private static volatile CompletableFuture<String> outcome = new CompletableFuture<>();

		private final Parallel service;

		LateController(Parallel service) {
			this.service = service;
		}

		@GetMapping("/late")
		String late() {
			RequestAttributes attributes = RequestContextHolder.currentRequestAttributes();
			new Thread(() -> {
				RequestContextHolder.setRequestAttributes(attributes);
				try {
					mayCall.await();
					outcome.complete(this.service.first());
				}
				catch (Exception ex) {
					outcome.complete(ex.getClass().getName());
				}
			}).start();
			return "served";
		}

	}

	static class AsyncService {

		@Async
		@RateLimited(limits = "2/m", identifiers = "header:X-Client")
		public CompletableFuture<String> call() {
			return CompletableFuture.completedFuture("called");
		}

	}

	@RestController
	static class AsyncController {

		private final AsyncService service;

		AsyncController(AsyncService service) {
			this.service = service;
		}

		@GetMapping("/async")
		CompletableFuture<String> async() {
			return this.service.call();
		}

	}

	@RestController
	static class ServiceController {

		private final Service service;

		ServiceController(Service service) {
			this.service = service;
		}

		@GetMapping("/service")
		String service() {
			return this.service.call();
		}

		@GetMapping("/service/callable")
		Callable<String> callable() {
			return this.service::call;
		}

		@GetMapping("/service/wrapped")
		String wrapped() {
			try {
				return this.service.call();
			}
			catch (RateLimitExceededException ex) {
				throw new IllegalStateException(new CompletionException(ex));
			}
		}

		@GetMapping("/service/twice")
		String twice() {
			return this.service.call() + this.service.call();
		}

		@GetMapping("/service/writer")
		void writer(PrintWriter writer) {
			writer.print("begun");
			this.service.call();
		}

	}

	@RestController
	static class HandlingController {

		@GetMapping("/handled")
		@RateLimited(limits = "1/m")
		public String handled() {
			return "served";
		}

		@ExceptionHandler
		@ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
		public String handle(RateLimitExceededException ex) {
			return ex.getMessage();
		}

	}

}
