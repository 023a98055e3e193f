package io.github.ratelimit.spring.method;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.github.ratelimit.spring.decide.Decided;
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
 */
record PublisherResult(ReactiveAdapter adapter) implements ResultType {

	/**
	 * Returns what fits a suspend function, by its declared result. Spring calls it as a
	 * publisher, to which the proxy subscribes for the caller: at once, or each time that
	 * a {@code Flow} is collected. A fallback that does not suspend returns the value.
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
		Supplier<Decided> prepared = prepare(call);
		// Unlike that of Mono.fromSupplier, what comes too late is discarded.
		Mono<Decided> deciding = Mono.create((sink) -> sink.success(prepared.get()));
		Mono<Decided> decided = Mono
			.defer(() -> mustNotBlock() ? deciding.subscribeOn(Schedulers.boundedElastic()) : deciding);
		// A Flux is not used for a single value: it would cancel the source after it.
		return this.adapter.fromPublisher(this.adapter.isMultiValue()
				? decided.flatMapMany((each) -> watched(each, call).doFinally((signal) -> end(each)))
					.doOnDiscard(Decided.class, PublisherResult::end)
				: decided.flatMap((each) -> Mono.fromDirect(answer(each, call)).doFinally((signal) -> end(each)))
					.doOnDiscard(Decided.class, PublisherResult::end));
	}

	/** Each element shows that the call runs. */
	private Flux<Object> watched(Decided decided, LimitedCall call) {
		Flux<Object> elements = Flux.from(answer(decided, call));
		if (!decided.isRunning()) {
			return elements;
		}
		AtomicBoolean emitted = new AtomicBoolean();
		decided.watch(() -> emitted.getAndSet(false));
		return elements.doOnNext((element) -> emitted.set(true));
	}

	private static void end(Decided decided) {
		if (decided.isRunning() && mustNotBlock()) {
			Schedulers.boundedElastic().schedule(decided::end);
		}
		else {
			decided.end();
		}
	}

	/**
	 * Also threads of the dispatchers of Kotlin must not block, which have a class of
	 * their own, nor the one that resumes coroutines after a delay.
	 */
	private static boolean mustNotBlock() {
		Thread thread = Thread.currentThread();
		String prefix = "kotlinx.coroutines.";
		return Schedulers.isInNonBlockingThread() || thread.getClass().getName().startsWith(prefix)
				|| thread.getName().startsWith(prefix);
	}

	private static Supplier<Decided> prepare(LimitedCall call) {
		try {
			return call.prepare();
		}
		catch (RuntimeException refusal) {
			return () -> {
				throw refusal;
			};
		}
	}

	private Publisher<Object> answer(Decided decided, LimitedCall call) {
		try {
			return this.adapter.toPublisher(call.answer(decided, true));
		}
		catch (Throwable ex) {
			decided.end();
			throw Exceptions.propagate(ex);
		}
	}

}
