package io.github.ratelimit.spring.method;

import java.util.function.Supplier;

import org.reactivestreams.Publisher;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.core.ReactiveAdapter;

/**
 * A result that does nothing until it is subscribed to: each subscription is a call of
 * its own. The caller is that of the thread that got the result, because other threads
 * may subscribe. The decision, which may block, is never made on a thread that must not.
 * <p>
 * A separate class, because Reactor is optional.
 *
 * @param adapter converts results
 */
record PublisherResult(ReactiveAdapter adapter) implements ResultType {

	@Override
	public Object limit(LimitedCall call) {
		Mono<LimitedCall.Answer> decided = Mono.fromSupplier(prepare(call));
		Mono<LimitedCall.Answer> decidedWhereAllowed = Mono.defer(
				() -> Schedulers.isInNonBlockingThread() ? decided.subscribeOn(Schedulers.boundedElastic()) : decided);
		// A Flux is not used for a single value: it would cancel the source after it.
		return this.adapter.fromPublisher(this.adapter.isMultiValue() ? decidedWhereAllowed.flatMapMany(this::get)
				: decidedWhereAllowed.flatMap((each) -> Mono.fromDirect(get(each))));
	}

	private static Supplier<LimitedCall.Answer> prepare(LimitedCall call) {
		try {
			return call.prepare();
		}
		catch (RuntimeException refusal) {
			return () -> {
				throw refusal;
			};
		}
	}

	private Publisher<Object> get(LimitedCall.Answer answer) {
		try {
			return this.adapter.toPublisher(answer.get());
		}
		catch (Throwable ex) {
			throw Exceptions.propagate(ex);
		}
	}

}
