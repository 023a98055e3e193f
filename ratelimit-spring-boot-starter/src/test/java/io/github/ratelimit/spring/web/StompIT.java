package io.github.ratelimit.spring.web;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.OutgoingCallDeniedException;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.decide.CarriedCaller;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;
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
class StompIT extends WithApplication {

	@BeforeEach
	void forget() {
		Talk.said.set(0);
	}

	@Test
	void messagesAreCountedForAddressOfHandshake(CapturedOutput output) throws Exception {
		StompSession session = connect(null);
		session.send(8, "/app/say");
		for (int i = 0; i < 3; i++) {
			assertThat(session.error()).contains("\"code\":\"TOO_MANY_REQUESTS\"")
				.contains("\"retryAfter\":60")
				.contains("\"violatedPolicies\":[\"address\"]");
		}
		assertThat(Talk.said).hasValue(5);
		this.application.assertUsed("address", Identifier.ip("127.0.0.1"), 5);
		session.close();
		assertThat(output).doesNotContainPattern(" ERROR \\d+ --- ");
	}

	/** The container gives the request to other clients while the session lasts. */
	@Test
	void valuesOfHandshakeIdentifyWithoutItsRequest() throws Exception {
		for (String tenant : new String[] { "a", "b" }) {
			StompSession session = connect(null, "X-Tenant", tenant);
			session.send(2, "/app/tenant");
			assertThat(session.error()).contains("TOO_MANY_REQUESTS");
			session.close();
		}
		assertThat(Talk.said).hasValue(2);
		assertThat(Talk.kept).isInstanceOfSatisfying(CapturedRequest.Handshake.class, (handshake) -> {
			assertThat(handshake.caller().find("header:X-Tenant")).isNotNull();
			assertThat(handshake.caller().state()).isNull();
			assertThat(handshake.anybody().state()).isNull();
		});
		StompSession nobody = connect(null);
		nobody.send(1, "/app/tenant");
		assertThat(nobody.error()).contains("\"code\":\"FORBIDDEN\"");
		nobody.close();
	}

	@Test
	void listsHoldForUserWhoLogsInWithConnect() throws Exception {
		StompSession mallory = connect("mallory");
		mallory.send(1, "/app/say");
		assertThat(mallory.error()).contains("\"code\":\"FORBIDDEN\"");
		mallory.close();
		StompSession admin = connect("admin", "X-User", "anna");
		admin.send(8, "/app/say");
		admin.send(1, "/app/tenant");
		admin.send(1, "/app/fail");
		assertThat(admin.error()).contains("FORBIDDEN");
		assertThat(Talk.said).hasValue(9);
		admin.close();
	}

	@Test
	void deniedCallThatNobodyCatchesIsLoggedOnce(CapturedOutput output) throws Exception {
		StompSession session = connect(null);
		session.send(2, "/app/remote");
		assertThat(session.error()).contains("SERVICE_UNAVAILABLE");
		assertThat(session.error()).contains("SERVICE_UNAVAILABLE");
		session.close();
		assertThat(output).containsOnlyOnce("Outgoing call denied by the policy 'remote'");
	}

	@Test
	void handshakeOfOneUserDoesNotSpeakForAnother() throws Exception {
		StompSession anna = connect("anna", "X-User", "anna");
		anna.send(1, "/app/both");
		anna.send(3, "/app/plans");
		assertThat(anna.error()).contains("\"violatedPolicies\":[\"plans\"]");
		anna.close();
		StompSession berta = connect("berta", "X-User", "anna");
		berta.send(1, "/app/both");
		berta.send(2, "/app/plans");
		assertThat(berta.error()).contains("\"violatedPolicies\":[\"plans\"]");
		berta.send(1, "/app/both");
		assertThat(berta.error()).contains("\"violatedPolicies\":[\"both\"]");
		berta.close();
		this.application.assertUsed("plans", Identifier.user("berta"), 1);
	}

	/** Only the request that opens the session has the header. */
	@Test
	void fallbackOfSockJsKnowsCallerOfHandshake() throws Exception {
		String session = "/sockjs/000/" + UUID.randomUUID();
		HttpRequest open = HttpRequest
			.newBuilder(URI.create("http://127.0.0.1:" + this.application.port() + session + "/xhr_streaming"))
			.header("X-Tenant", "streamed")
			.POST(BodyPublishers.noBody())
			.build();
		try (Stream<String> received = HttpClient.newHttpClient().send(open, BodyHandlers.ofLines()).body()) {
			Iterator<String> lines = received.iterator();
			await(lines, "o");
			send(session, "CONNECT\naccept-version:1.2\nhost:localhost\n\n");
			await(lines, "a[\"CONNECTED");
			send(session, "SUBSCRIBE\nid:0\ndestination:/user/queue/errors\n\n");
			send(session, "SEND\ndestination:/app/tenant\n\n");
			send(session, "SEND\ndestination:/app/tenant\n\n");
			assertThat(await(lines, "a[\"MESSAGE")).contains("TOO_MANY_REQUESTS");
			send(session, "DISCONNECT\n\n");
			await(lines, "c[");
		}
		this.application.assertUsed("tenant", new Identifier("header:X-Tenant", "streamed"), 1);
	}

	private static String await(Iterator<String> lines, String start) {
		String line = lines.next();
		while (!line.startsWith(start)) {
			line = lines.next();
		}
		return line;
	}

	private void send(String session, String frame) {
		BodyPublisher body = BodyPublishers.ofString(JsonMapper.shared().writeValueAsString(List.of(frame + '\0')));
		assertThat(this.application.send("POST", session + "/xhr_send", body, "Content-Type", "application/json")
			.statusCode()).isEqualTo(204);
	}

	private StompSession connect(@Nullable String login, String... headers) {
		WebSocket.Builder builder = HttpClient.newHttpClient().newWebSocketBuilder();
		for (int i = 0; i < headers.length; i += 2) {
			builder.header(headers[i], headers[i + 1]);
		}
		StompSession session = new StompSession(builder, this.application.port());
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

		private static final AtomicInteger said = new AtomicInteger();

		private static volatile @Nullable Object kept;

		@MessageMapping("/say")
		@RateLimited("address")
		public void say() {
			said.incrementAndGet();
		}

		@MessageMapping("/tenant")
		@RateLimited("tenant")
		public void tenant(SimpMessageHeaderAccessor message) {
			Map<String, Object> session = message.getSessionAttributes();
			kept = (session != null) ? session.get(CarriedCaller.ATTRIBUTE) : null;
			said.incrementAndGet();
		}

		@MessageMapping("/both")
		@RateLimited("both")
		public void both() {
		}

		@MessageMapping("/plans")
		@RateLimited("plans")
		public void plans() {
		}

		@MessageMapping("/remote")
		public void remote() {
			throw new OutgoingCallDeniedException("remote", new Decision(false, List.of(), null));
		}

		@MessageMapping("/fail")
		public void fail() {
			throw new CallerDeniedException("failed");
		}

	}

	/** A client of WebSocket that speaks as much of STOMP as is needed. */
	static final class StompSession implements WebSocket.Listener {

		private final BlockingQueue<String> errors = new LinkedBlockingQueue<>();

		final CompletableFuture<Void> connected = new CompletableFuture<>();

		private final StringBuilder received = new StringBuilder();

		private final WebSocket socket;

		StompSession(WebSocket.Builder builder, int port) {
			this.socket = builder.buildAsync(URI.create("ws://127.0.0.1:" + port + "/ws"), this).join();
		}

		void send(int times, String destination) {
			for (int i = 0; i < times; i++) {
				write("SEND\ndestination:" + destination + "\n\n");
			}
		}

		void write(String frame) {
			this.socket.sendText(frame + '\0', true).join();
		}

		String error() throws InterruptedException {
			String error = this.errors.poll(1, TimeUnit.MINUTES);
			assertThat(error).isNotNull();
			return error;
		}

		void close() {
			this.socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
		}

		@Override
		public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
			this.received.append(data);
			if (last) {
				if (this.received.indexOf("CONNECTED\n") == 0) {
					this.connected.complete(null);
				}
				if (this.received.indexOf("MESSAGE\n") == 0) {
					this.errors.add(this.received.toString());
				}
				this.received.setLength(0);
			}
			socket.request(1);
			return null;
		}

	}

}
