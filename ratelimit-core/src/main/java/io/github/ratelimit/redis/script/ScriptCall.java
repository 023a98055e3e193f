package io.github.ratelimit.redis.script;

import java.util.List;
import java.util.function.Consumer;

import io.github.ratelimit.Limit;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.redis.connection.Call;
import org.jspecify.annotations.Nullable;

/**
 * A call of a script for a request, or for its part in one slot.
 */
public final class ScriptCall extends Call {

	private final Script script;

	private final Operation operation;

	private final Scope scope;

	private final RateLimitRequest request;

	final List<byte[]> keys;

	final byte[] argument;

	private @Nullable Consumer<Answer> late;

	ScriptCall(Script script, Operation operation, Scope scope, RateLimitRequest request, List<byte[]> keys,
			byte[] argument, int slot, long deadline) {
		super(script, slot, deadline);
		this.script = script;
		this.operation = operation;
		this.scope = scope;
		this.request = request;
		this.keys = keys;
		this.argument = argument;
	}

	@Override
	public int work() {
		return this.script.work();
	}

	/** Waits for it. Fails if there is none, or it cannot be read. */
	public Answer answer() {
		return Answer.read(this.operation, this.scope, this.request, await());
	}

	/** Sets what receives, without blocking, an answer that nobody waits for. */
	public void onLateAnswer(Consumer<Answer> late) {
		this.late = late;
	}

	@Override
	protected void answeredLate(@Nullable Object answer) {
		if (this.late != null) {
			this.late.accept(Answer.read(this.operation, this.scope, this.request, answer));
		}
	}

	/** Waits for the entries of a log, newest first. */
	public List<LogEntry> entries() {
		return Answer.list(await(), 3, (entry) -> new LogEntry(Answer.instant(entry.get(0)),
				Answer.number(entry.get(1)), Answer.text(entry.get(2))));
	}

	/** Waits for the counts of windows, by limit, and from the newest to the oldest. */
	public List<WindowCount> series() {
		List<Limit> limits = this.request.charges().get(0).policy().limits();
		return Answer.list(await(), 3, (window) -> {
			if (Answer.number(window.get(0)) >= limits.size()) {
				throw Answer.invalid(window);
			}
			return new WindowCount(limits.get((int) Answer.number(window.get(0))), Answer.instant(window.get(1)),
					Answer.number(window.get(2)));
		});
	}

}
