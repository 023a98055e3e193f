package io.github.ratelimit.spring.web;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.decide.CarriedCaller;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.simp.config.ChannelRegistration;
import org.springframework.messaging.simp.config.MessageBrokerRegistry;
import org.springframework.messaging.simp.stomp.StompCommand;
import org.springframework.messaging.simp.stomp.StompHeaderAccessor;
import org.springframework.messaging.support.ChannelInterceptor;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.stereotype.Controller;
import org.springframework.web.socket.config.annotation.EnableWebSocketMessageBroker;
import org.springframework.web.socket.config.annotation.StompEndpointRegistry;
import org.springframework.web.socket.config.annotation.WebSocketMessageBrokerConfigurer;
import org.springframework.web.socket.server.HandshakeHandler;
import org.springframework.web.socket.server.standard.StandardWebSocketUpgradeStrategy;
import org.springframework.web.socket.server.support.DefaultHandshakeHandler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Limited messages of WebSocket sessions: who is counted, and what their clients get to
 * know.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit.policies:
		  address: { limits: 5/m, identifiers: ip }
		  both: { limits: 1/m, identifiers: ip+user }
		  plans: { limits: 1/m, identifiers: user, plans: { gold: { limits: 2/m } } }
		  tenant: { limits: 1/m, identifiers: header:X-Tenant, missing-identifier: deny }
		ratelimit.plan: "#principal.name == 'anna' ? 'gold' : null"
		ratelimit.allow: user:admin
		ratelimit.deny: user:mallory
		""")
@ExtendWith(OutputCaptureExtension.class)
class StompIT {

	@Parameter
	TestApplication application;

	@Test
	void messagesAreCountedForAddressOfHandshake(CapturedOutput output) throws Exception {
		AtomicInteger said = this.application.bean(Talk.class).said();
		said.set(0);
		StompSession session = connect(null);
		for (int i = 0; i < 8; i++) {
			session.send("/app/say");
		}
		for (int i = 0; i < 3; i++) {
			assertThat(session.error()).contains("\"code\":\"TOO_MANY_REQUESTS\"")
				.contains("\"retryAfter\":60")
				.contains("\"violatedPolicies\":[\"address\"]");
		}
		assertThat(said).hasValue(5);
		this.application.assertUsed("address", Identifier.ip("127.0.0.1"), 5);
		session.close();
		assertThat(output).doesNotContainPattern(" ERROR \\d+ --- ");
	}

	@Test
	void headerOfHandshakeIdentifiesAndItsLackIsDenied(CapturedOutput output) throws Exception {
		AtomicInteger said = this.application.bean(Talk.class).said();
		said.set(0);
		for (String tenant : new String[] { "a", "b" }) {
			StompSession session = connect(tenant);
			session.send("/app/tenant");
			session.send("/app/tenant");
			assertThat(session.error()).contains("TOO_MANY_REQUESTS");
			session.close();
		}
		assertThat(said).hasValue(2);
		StompSession nobody = connect(null);
		nobody.send("/app/tenant");
		assertThat(nobody.error()).contains("\"code\":\"FORBIDDEN\"");
		nobody.close();
		assertThat(output).doesNotContainPattern(" ERROR \\d+ --- ");
	}

	@Test
	void listsHoldForUserWhoLogsInWithConnect() throws Exception {
		AtomicInteger said = this.application.bean(Talk.class).said();
		said.set(0);
		StompSession mallory = connect(null, null, "mallory");
		mallory.send("/app/say");
		assertThat(mallory.error()).contains("\"code\":\"FORBIDDEN\"");
		mallory.close();
		StompSession admin = connect(null, "anna", "admin");
		for (int i = 0; i < 8; i++) {
			admin.send("/app/say");
		}
		admin.send("/app/tenant");
		admin.send("/app/fail");
		assertThat(admin.error()).contains("FORBIDDEN");
		assertThat(said).hasValue(9);
		admin.close();
	}

	@Test
	void handshakeOfOneUserDoesNotSpeakForAnother() throws Exception {
		StompSession anna = connect(null, "anna", "anna");
		anna.send("/app/both");
		anna.send("/app/plans");
		anna.send("/app/plans");
		anna.send("/app/plans");
		assertThat(anna.error()).contains("\"violatedPolicies\":[\"plans\"]");
		anna.close();
		StompSession berta = connect(null, "anna", "berta");
		berta.send("/app/both");
		berta.send("/app/plans");
		berta.send("/app/plans");
		assertThat(berta.error()).contains("\"violatedPolicies\":[\"plans\"]");
		berta.send("/app/both");
		assertThat(berta.error()).contains("\"violatedPolicies\":[\"both\"]");
		berta.close();
		this.application.assertUsed("plans", Identifier.user("berta"), 1);
	}

	/** The container gives the request to other clients while the session lasts. */
	@Test
	void sessionKeepsValuesAndNoRequest() throws Exception {
		Talk talk = this.application.bean(Talk.class);
		StompSession session = connect("kept");
		session.send("/app/tenant");
		session.send("/app/tenant");
		session.error();
		session.close();
		assertThat(talk.kept()).isInstanceOfSatisfying(CapturedRequest.Handshake.class, (handshake) -> {
			assertThat(handshake.caller().find("header:X-Tenant")).isNotNull();
			assertThat(handshake.caller().state()).isNull();
			assertThat(handshake.anybody().state()).isNull();
		});
	}

	/** Only the request that opens the session has the header. */
	@Test
	void fallbackOfSockJsKnowsCallerOfHandshake() throws Exception {
		String session = "http://127.0.0.1:" + this.application.port() + "/sockjs/000/" + UUID.randomUUID();
		HttpURLConnection stream = post(session + "/xhr_streaming");
		stream.setRequestProperty("X-Tenant", "streamed");
		try (BufferedReader received = new BufferedReader(
				new InputStreamReader(stream.getInputStream(), StandardCharsets.UTF_8))) {
			await(received, "o");
			send(session, "CONNECT\naccept-version:1.2\nhost:localhost\n\n");
			await(received, "a[\"CONNECTED");
			send(session, "SUBSCRIBE\nid:0\ndestination:/user/queue/errors\n\n");
			send(session, "SEND\ndestination:/app/tenant\n\n");
			send(session, "SEND\ndestination:/app/tenant\n\n");
			assertThat(await(received, "a[\"MESSAGE")).contains("TOO_MANY_REQUESTS");
			send(session, "DISCONNECT\n\n");
			await(received, "c[");
		}
		this.application.assertUsed("tenant", new Identifier("header:X-Tenant", "streamed"), 1);
	}

	private static String await(BufferedReader received, String start) throws IOException {
		String line = received.readLine();
		while (line != null && !line.startsWith(start)) {
			line = received.readLine();
		}
		assertThat(line).isNotNull();
		return line;
	}

	private static void send(String session, String frame) throws IOException {
		HttpURLConnection connection = post(session + "/xhr_send");
		connection.setDoOutput(true);
		connection.setRequestProperty("Content-Type", "application/json");
		connection.getOutputStream().write(JsonMapper.shared().writeValueAsBytes(List.of(frame + '\0')));
		assertThat(connection.getResponseCode()).isEqualTo(204);
	}

	private static HttpURLConnection post(String url) throws IOException {
		HttpURLConnection connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
		connection.setRequestMethod("POST");
		connection.setReadTimeout((int) Duration.ofMinutes(1).toMillis());
		return connection;
	}

	private StompSession connect(@Nullable String tenant) {
		return connect(tenant, null, null);
	}

	private StompSession connect(@Nullable String tenant, @Nullable String user, @Nullable String login) {
		StompSession session = new StompSession();
		WebSocket.Builder builder = HttpClient.newHttpClient().newWebSocketBuilder();
		if (tenant != null) {
			builder.header("X-Tenant", tenant);
		}
		if (user != null) {
			builder.header("X-User", user);
		}
		session.socket = builder.buildAsync(URI.create("ws://127.0.0.1:" + this.application.port() + "/ws"), session)
			.join();
		session.write("CONNECT\naccept-version:1.2\nhost:localhost\n" + ((login != null) ? "login:" + login + '\n' : "")
				+ '\n');
		// As clients do: from then on the server knows the user's session.
		session.connected.orTimeout(1, TimeUnit.MINUTES).join();
		session.write("SUBSCRIBE\nid:0\ndestination:/user/queue/errors\n\n");
		return session;
	}

	@OpenApplication
	@EnableWebSocketMessageBroker
	@Import({ Talk.class, HeaderLogin.class })
	static class Application implements WebSocketMessageBrokerConfigurer {

		@Override
		public void registerStompEndpoints(StompEndpointRegistry registry) {
			// Spring would take Jetty for the server, because it is on the class path.
			HandshakeHandler handler = new DefaultHandshakeHandler(new StandardWebSocketUpgradeStrategy());
			registry.addEndpoint("/ws").setHandshakeHandler(handler);
			registry.addEndpoint("/sockjs").setHandshakeHandler(handler).withSockJS();
			registry.setPreserveReceiveOrder(true);
		}

		/** Lets users log in with the first frame. */
		@Override
		public void configureClientInboundChannel(ChannelRegistration registration) {
			registration.interceptors(new ChannelInterceptor() {

				@Override
				public Message<?> preSend(Message<?> message, MessageChannel channel) {
					StompHeaderAccessor frame = MessageHeaderAccessor.getAccessor(message, StompHeaderAccessor.class);
					String login = (frame != null && frame.getCommand() == StompCommand.CONNECT) ? frame.getLogin()
							: null;
					if (login != null) {
						frame.setUser(() -> login);
					}
					return message;
				}

			});
		}

		@Override
		public void configureMessageBroker(MessageBrokerRegistry registry) {
			registry.enableSimpleBroker("/queue");
			registry.setApplicationDestinationPrefixes("/app");
		}

	}

	@Controller
	static class Talk {

		private final AtomicInteger said = new AtomicInteger();

		private volatile @Nullable Object kept;

		AtomicInteger said() {
			return this.said;
		}

		@Nullable Object kept() {
			return this.kept;
		}

		@MessageMapping("/say")
		@RateLimited("address")
		public void say() {
			this.said.incrementAndGet();
		}

		@MessageMapping("/tenant")
		@RateLimited("tenant")
		public void tenant(SimpMessageHeaderAccessor message) {
			Map<String, Object> session = message.getSessionAttributes();
			this.kept = (session != null) ? session.get(CarriedCaller.ATTRIBUTE) : null;
			this.said.incrementAndGet();
		}

		@MessageMapping("/both")
		@RateLimited("both")
		public void both() {
		}

		@MessageMapping("/plans")
		@RateLimited("plans")
		public void plans() {
		}

		@MessageMapping("/fail")
		public void fail() {
			throw new CallerDeniedException("failed");
		}

	}

}
