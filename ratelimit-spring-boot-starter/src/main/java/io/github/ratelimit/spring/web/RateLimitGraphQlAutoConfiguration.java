package io.github.ratelimit.spring.web;

import java.util.List;

import graphql.ErrorClassification;
import graphql.GraphQL;
import graphql.GraphQLError;
import graphql.GraphqlErrorBuilder;
import io.github.ratelimit.spring.web.answer.Answer;
import io.github.ratelimit.spring.web.answer.UncaughtDenials;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;
import org.springframework.graphql.execution.SubscriptionExceptionResolver;

/**
 * Auto-configuration of the errors of denied GraphQL fields and subscriptions, which have
 * a classification of their own instead of {@code INTERNAL_ERROR}, and the seconds to
 * wait in their extensions.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnClass({ GraphQL.class, DataFetcherExceptionResolver.class })
@ConditionalOnBooleanProperty(name = "ratelimit.enabled", matchIfMissing = true)
@Import(UncaughtDenials.class)
public final class RateLimitGraphQlAutoConfiguration {

	private final UncaughtDenials denials;

	RateLimitGraphQlAutoConfiguration(UncaughtDenials denials) {
		this.denials = denials;
	}

	/** Resolvers of the application come first. */
	@Bean
	@Order(Ordered.LOWEST_PRECEDENCE)
	DataFetcherExceptionResolver rateLimitDataFetcherExceptionResolver() {
		return (ex, environment) -> errors(ex, GraphqlErrorBuilder.newError(environment));
	}

	/** Resolvers of the application come first. */
	@Bean
	@Order(Ordered.LOWEST_PRECEDENCE)
	SubscriptionExceptionResolver rateLimitSubscriptionExceptionResolver() {
		return (ex) -> errors(ex, GraphqlErrorBuilder.newError());
	}

	private Mono<List<GraphQLError>> errors(Throwable ex, GraphqlErrorBuilder<?> error) {
		return Mono.justOrEmpty(Answer.to(ex))
			.doOnNext(this.denials::warn)
			.map((answer) -> List.of(error.errorType(ErrorClassification.errorClassification(answer.code()))
				.message(answer.message())
				.extensions(answer.details())
				.build()));
	}

}
