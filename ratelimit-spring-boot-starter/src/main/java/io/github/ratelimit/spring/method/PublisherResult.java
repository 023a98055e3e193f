package io.github.ratelimit.spring.method;

import java.util.function.Supplier;

import org.reactivestreams.Publisher;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ReactiveTypeDescriptor;

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

	/**
	 * Returns what fits a suspend function. Spring calls it as a publisher, to which the
	 * proxy subscribes for the caller: at once, or each time that a {@code Flow} is
	 * collected. The value itself may be that of a fallback which does not suspend.
	 * @param type the result that the source declares
	 * @throws IllegalArgumentException if Spring does not return such results to callers
	 */
	static PublisherResult ofSuspendFunction(Class<?> type) {
		if (type == Mono.class) {
			throw new IllegalArgumentException(
					"Invalid result (%s): a suspend function must return the value.".formatted(type.getTypeName()));
		}
		ReactiveAdapter flow = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
		if (flow != null && flow.getReactiveType().getName().equals("kotlinx.coroutines.flow.Flow")) {
			ResultType.requireDeclared(type, flow.getReactiveType());
			return new PublisherResult(new ReactiveAdapter(ReactiveTypeDescriptor.multiValue(Flux.class, Flux::empty),
					(value) -> (value instanceof Flux<?> flux) ? flux : flow.toPublisher(value), Flux::from));
		}
		return new PublisherResult(
				new ReactiveAdapter(ReactiveTypeDescriptor.singleOptionalValue(Mono.class, Mono::empty),
						(value) -> (value instanceof Mono<?> mono) ? mono : Mono.just(value), Mono::from));
	}

	@Override
	public Object limit(LimitedCall call) {
		Supplier<LimitedCall.Answer> prepared = prepare(call);
		// Discards the answer if it is cancelled meanwhile, as Mono.fromSupplier does
		// not.
		Mono<LimitedCall.Answer> decided = Mono.create((sink) -> sink.success(prepared.get()));
		Mono<LimitedCall.Answer> decidedWhereAllowed = Mono
			.defer(() -> mustNotBlock() ? decided.subscribeOn(Schedulers.boundedElastic()) : decided);
		// A Flux is not used for a single value: it would cancel the source after it.
		return this.adapter.fromPublisher(this.adapter.isMultiValue()
				? decidedWhereAllowed.flatMapMany((each) -> Flux.from(get(each)).doFinally((signal) -> end(each)))
					.doOnDiscard(LimitedCall.Answer.class, PublisherResult::end)
				: decidedWhereAllowed.flatMap((each) -> Mono.fromDirect(get(each)).doFinally((signal) -> end(each)))
					.doOnDiscard(LimitedCall.Answer.class, PublisherResult::end));
	}

	/** Notes the end of a call, also of one that was cancelled while it was decided. */
	private static void end(LimitedCall.Answer answer) {
		if (!answer.atEnd().isEmpty() && mustNotBlock()) {
			Schedulers.boundedElastic().schedule(answer::end);
		}
		else {
			answer.end();
		}
	}

	private static boolean mustNotBlock() {
		return Schedulers.isInNonBlockingThread() || isOfCoroutines(Thread.currentThread());
	}

	/**
	 * Returns whether a thread belongs to the dispatchers of Kotlin, which have a class
	 * of their own for it, or is the one that resumes coroutines after a delay.
	 */
	private static boolean isOfCoroutines(Thread thread) {
		String prefix = "kotlinx.coroutines.";
		return thread.getClass().getName().startsWith(prefix) || thread.getName().startsWith(prefix);
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
			answer.end();
			throw Exceptions.propagate(ex);
		}
	}

}
