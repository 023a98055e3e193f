package io.github.ratelimit.memory;

import java.time.Duration;

import io.github.ratelimit.MeterState;
import io.github.ratelimit.Penalty;
import org.jspecify.annotations.Nullable;

/**
 * The recent denials and penalties of one identifier in one policy; the same steps as in
 * {@code request.lua}. All times are in microseconds.
 */
final class Denials {

	private final Penalty penalty;

	private final long now;

	private long finish;

	private long count;

	private long next;

	/** Until when that is kept; 0 if there was no penalty. */
	private long kept;

	Denials(Penalty penalty, @Nullable MeterState state, long now) {
		this.penalty = penalty;
		this.now = now;
		if (state != null) {
			this.finish = state.numbers()[0];
			this.count = state.numbers()[1];
			this.next = state.numbers()[2];
			this.kept = state.numbers()[3];
		}
		long within = micros(penalty.within());
		if (this.finish <= now || this.finish > now + within) {
			this.finish = now + within;
			this.count = 0;
		}
		if (this.kept <= now || this.kept > now + 2 * longest()) {
			this.next = 0;
			this.kept = 0;
		}
		this.next = Math.min(Math.max(this.next, micros(penalty.block())), longest());
	}

	/**
	 * Returns whether the last penalty would block it, if that was not in shadow mode.
	 */
	boolean isPenalized() {
		return this.now < this.kept - longest();
	}

	/** Counts denials, and returns how long the identifier is to be blocked for them. */
	long add(long denials) {
		this.count += denials;
		if (this.count < this.penalty.after()) {
			return 0;
		}
		long length = this.next;
		this.finish = this.now;
		this.count = 0;
		this.next = Math.min(2 * length, longest());
		this.kept = this.now + length + longest();
		return length;
	}

	MeterState state() {
		return MeterState.of(this.finish, this.count, this.next, this.kept);
	}

	long ttl() {
		return Math.max(this.finish, this.kept) - this.now;
	}

	private long longest() {
		return micros(this.penalty.upTo());
	}

	private static long micros(Duration time) {
		return time.toMillis() * 1000;
	}

}
