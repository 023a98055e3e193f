package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.decide.CarriedCaller;
import io.github.ratelimit.spring.web.CapturedRequest.Handshake;
import io.github.ratelimit.spring.web.answer.Answer;
import io.github.ratelimit.spring.web.answer.UncaughtDenials;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.MessageHandler;
import org.springframework.messaging.handler.annotation.MessageExceptionHandler;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.simp.annotation.SendToUser;
import org.springframework.messaging.simp.config.ChannelRegistration;
import org.springframework.messaging.support.ExecutorChannelInterceptor;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.servlet.handler.AbstractUrlHandlerMapping;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.config.annotation.WebSocketMessageBrokerConfigurer;
import org.springframework.web.socket.server.HandshakeInterceptor;
import org.springframework.web.socket.server.support.WebSocketHttpRequestHandler;
import org.springframework.web.socket.sockjs.support.SockJsHttpRequestHandler;
import org.springframework.web.socket.sockjs.transport.TransportHandlingSockJsService;

/**
 * Auto-configuration of limits of {@code @MessageMapping} methods: who sends a message,
 * and how a client gets to know that it was denied.
 *
 * @since 0.1
 */
@AutoConfiguration(after = RateLimitWebAutoConfiguration.class)
@ConditionalOnClass(WebSocketMessageBrokerConfigurer.class)
@ConditionalOnBean({ ServletPolicyEnforcer.class, WebSocketMessageBrokerConfigurer.class })
@ConditionalOnBooleanProperty(name = "ratelimit.enabled", matchIfMissing = true)
@Import(UncaughtDenials.class)
public final class RateLimitWebSocketAutoConfiguration {

	@Bean
	static MessageCallers rateLimitMessageCallers(ObjectProvider<RequestCharges> charges) {
		return new MessageCallers(SingletonSupplier.of(charges::getObject));
	}

	/** Watches all endpoints. */
	@Bean
	SmartInitializingSingleton rateLimitHandshakes(MessageCallers callers,
			ObjectProvider<AbstractUrlHandlerMapping> mappings) {
		return () -> mappings.stream()
			.flatMap((mapping) -> mapping.getHandlerMap().values().stream())
			.forEach((any) -> {
				if (any instanceof WebSocketHttpRequestHandler endpoint) {
					add(callers, endpoint.getHandshakeInterceptors(), endpoint::setHandshakeInterceptors);
				}
				else if (any instanceof SockJsHttpRequestHandler endpoint
						&& endpoint.getSockJsService() instanceof TransportHandlingSockJsService service) {
					add(callers, service.getHandshakeInterceptors(), service::setHandshakeInterceptors);
				}
			});
	}

	private static void add(MessageCallers callers, Collection<HandshakeInterceptor> known,
			Consumer<List<HandshakeInterceptor>> set) {
		set.accept(Stream.concat(known.stream(), Stream.of(callers)).toList());
	}

	@Bean
	DeniedMessages rateLimitDeniedMessages(UncaughtDenials denials) {
		return new DeniedMessages(denials);
	}

	/**
	 * Tells the session of a denied message, at {@code /user/queue/errors}. A
	 * {@code @MessageExceptionHandler} of the application comes first.
	 */
	@ControllerAdvice
	@Order(Ordered.LOWEST_PRECEDENCE)
	static class DeniedMessages {

		private final UncaughtDenials denials;

		DeniedMessages(UncaughtDenials denials) {
			this.denials = denials;
		}

		@MessageExceptionHandler({ RateLimitExceededException.class, CallerDeniedException.class, StoreException.class,
				RateLimitedExpressionException.class })
		@SendToUser(destinations = "/queue/errors", broadcast = false)
		Map<String, Object> tell(Exception ex) {
			Answer answer = Objects.requireNonNull(Answer.to(ex));
			this.denials.warn(answer);
			Map<String, Object> error = answer.details();
			error.put("code", answer.code());
			error.put("message", answer.message());
			return error;
		}

	}

	/**
	 * Carries the caller of a WebSocket handshake over to the messages of its session,
	 * with the user of each message.
	 *
	 * @param charges reads callers; not supplied before the first handshake
	 */
	record MessageCallers(Supplier<RequestCharges> charges)
			implements
				WebSocketMessageBrokerConfigurer,
				HandshakeInterceptor,
				ExecutorChannelInterceptor {

		@Override
		public void configureClientInboundChannel(ChannelRegistration registration) {
			registration.interceptors(this);
		}

		@Override
		public boolean beforeHandshake(ServerHttpRequest request, ServerHttpResponse response, WebSocketHandler handler,
				Map<String, Object> attributes) {
			if (request instanceof ServletServerHttpRequest servlet) {
				attributes.put(CarriedCaller.ATTRIBUTE,
						this.charges.get().captureHandshake(servlet.getServletRequest()));
			}
			return true;
		}

		@Override
		public void afterHandshake(ServerHttpRequest request, ServerHttpResponse response, WebSocketHandler handler,
				@Nullable Exception exception) {
		}

		@Override
		public Message<?> beforeHandle(Message<?> message, MessageChannel channel, MessageHandler handler) {
			Map<String, Object> session = SimpMessageHeaderAccessor.getSessionAttributes(message.getHeaders());
			Principal user = SimpMessageHeaderAccessor.getUser(message.getHeaders());
			Handshake handshake = (session != null && session.get(CarriedCaller.ATTRIBUTE) instanceof Handshake known)
					? known : Handshake.UNKNOWN;
			CarriedCaller caller = this.charges.get().sender(handshake, user);
			CarriedCaller.exchange(() -> caller);
			return message;
		}

		@Override
		public void afterMessageHandled(Message<?> message, MessageChannel channel, MessageHandler handler,
				@Nullable Exception ex) {
			CarriedCaller.exchange(null);
		}

	}

}
