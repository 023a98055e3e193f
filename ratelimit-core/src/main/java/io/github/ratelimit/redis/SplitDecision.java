package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.connection.Carrier;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.Answer;
import io.github.ratelimit.redis.script.Answer.Penalized;
import io.github.ratelimit.redis.script.Operation;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.ScriptCall;
import io.github.ratelimit.redis.script.Scripts;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A request that several calls decide, which are sent together. Each call reserves what
 * it allows. If one of them denies the request or fails, the others are cancelled; a call
 * that is answered too late is cancelled then. If one of them denies the charge of a
 * policy in shadow mode, the reservations of that charge are cancelled.
 *
 * @param budget how long a cancellation may take, which may end after the deadline
 */
record SplitDecision(Scripts scripts, Servers servers, RateLimitRequest request, Duration budget, long deadline) {

	Decision peek(List<SlotRequest> slots) {
		return join(ask(Operation.PEEK, slots), List.of());
	}

	/** Runs an operation that has no answer, in all slots. */
	void run(Operation operation, List<SlotRequest> slots) {
		requireSuccess(ask(operation, slots));
	}

	/** Reserves what one call can decide. If the answer is late, it is cancelled. */
	Answer reserve(SlotRequest slot) {
		return send(Operation.RESERVE, slot).call.answer();
	}

	/** Decides, all or nothing. */
	Answer acquire(List<SlotRequest> slots) {
		List<Part> parts = ask(Operation.RESERVE, slots);
		if (parts.stream().anyMatch((part) -> part.failure != null)) {
			parts.forEach((part) -> abandon(part.slot, part.answer));
		}
		Decision decision = join(parts, List.of());
		List<Part> corrections = new ArrayList<>();
		for (Part part : parts) {
			Answer reserved = Objects.requireNonNull(part.answer);
			corrections.addAll(cancel(part.slot, reserved, decision));
			corrections.addAll(countDenials(part.slot, reserved, decision));
		}
		List<Part> later = await(corrections);
		List<Penalized> penalties = Stream.concat(answers(parts), answers(later))
			.flatMap((answer) -> answer.penalties().stream())
			.toList();
		return new Answer(later.isEmpty() ? decision : join(parts, later), 0, penalties);
	}

	/**
	 * Counts the denied charges in shadow mode of policies that count denied requests.
	 * These reserve nothing, because a full log would drop entries for it. Those that may
	 * be penalized stay in shadow mode, because otherwise they would be blocked.
	 */
	private List<Part> countDenials(SlotRequest slot, Answer reserved, Decision decision) {
		return slot.request()
			.shadows()
			.stream()
			.filter((charge) -> slot.scope() != Scope.BLOCKS && counts(charge, decision)
					&& !isReserved(charge, reserved.decision()))
			.map((charge) -> (charge.policy().penalty() != null) ? charge : enforced(charge))
			.map((charge) -> send(Operation.ACQUIRE, slot.of(List.of(charge))))
			.toList();
	}

	private List<Part> ask(Operation operation, List<SlotRequest> slots) {
		return await(slots.stream().map((slot) -> send(operation, slot)).toList());
	}

	private Part send(Operation operation, SlotRequest slot) {
		ScriptCall call = this.scripts.call(operation, slot.scope(), slot.request(), this.deadline);
		if (operation == Operation.RESERVE) {
			call.onLateAnswer((answer) -> abandon(slot, answer));
		}
		this.servers.submit(call);
		return new Part(operation, slot, call, (key) -> send(operation, key));
	}

	/**
	 * Waits for answers. What a node cannot do, because the slot is moving, is done one
	 * Redis key at a time.
	 */
	private List<Part> await(List<Part> parts) {
		List<Part> answered = new ArrayList<>();
		List<Part> further = new ArrayList<>();
		for (Part part : parts) {
			part.await(this.deadline);
			if (Carrier.isMoving(part.failure) && part.slot.scope() == Scope.ALL) {
				boolean blocks = part.operation == Operation.RESERVE || part.operation == Operation.PEEK;
				part.slot.byKey(blocks).forEach((key) -> further.add(part.again.apply(key)));
			}
			else {
				answered.add(part);
			}
		}
		// These have one Redis key each, so they are not split again.
		further.forEach((part) -> part.await(this.deadline));
		answered.addAll(further);
		return answered;
	}

	/**
	 * Cancels what was reserved, without waiting. One Redis key at a time, because nobody
	 * would see that the slot is moving. A call that has only checked blocks has reserved
	 * nothing.
	 */
	private void abandon(SlotRequest slot, @Nullable Answer reserved) {
		if (reserved != null && slot.scope() != Scope.BLOCKS) {
			slot.byKey(false).forEach((key) -> cancel(key, reserved, null));
		}
	}

	/**
	 * Cancels what was reserved and does not stay counted.
	 * @param decision the decision on the request; {@code null} if nothing stays counted
	 * @return a call that was sent; none if there is nothing to cancel
	 */
	private List<Part> cancel(SlotRequest slot, Answer reserved, @Nullable Decision decision) {
		Predicate<Charge> stays = (charge) -> !isReserved(charge, reserved.decision())
				|| (decision != null && counts(charge, decision));
		List<Charge> denied = slot.request()
			.charges()
			.stream()
			.filter((charge) -> decision == null || !isAllowed(charge, decision))
			.map(SplitDecision::enforced)
			.toList();
		return (slot.scope() == Scope.BLOCKS || denied.stream().allMatch(stays)) ? List.of()
				: List.of(cancel(slot.of(denied), stays, reserved.reservedAt()));
	}

	/** May send after the deadline, because otherwise the quota would stay reserved. */
	private Part cancel(SlotRequest slot, Predicate<Charge> stays, long reservedAt) {
		ScriptCall call = this.scripts.cancel(slot.request(), slot.scope(), stays, reservedAt,
				System.nanoTime() + this.budget.toNanos());
		this.servers.submit(call);
		return new Part(Operation.CANCEL, slot, call, (key) -> cancel(key, stays, reservedAt));
	}

	private static Charge enforced(Charge charge) {
		return new Charge(charge.policy(), charge.identifiers(), charge.cost());
	}

	private static boolean isAllowed(Charge charge, Decision decision) {
		return decision.allowed() && decision.shadow(charge).allowed();
	}

	private static boolean isReserved(Charge charge, Decision decision) {
		boolean shadow = decision.shadows().containsKey(charge.policy().name());
		return shadow ? isAllowed(charge, decision) : counts(charge, decision);
	}

	/**
	 * Returns whether a decision counts a charge. A denied charge in shadow mode counts
	 * only if the request is allowed.
	 */
	private static boolean counts(Charge charge, Decision decision) {
		Decision shadow = decision.shadows().get(charge.policy().name());
		if (shadow != null) {
			return decision.allowed() && counts(charge, shadow);
		}
		return decision.allowed() || (charge.policy().countDenied() && decision.blockedFor() == null
				&& decision.statuses().stream().allMatch((status) -> status.retryAfter() != null));
	}

	private static void requireSuccess(List<Part> parts) {
		for (Part part : parts) {
			if (part.failure != null) {
				throw part.failure;
			}
		}
	}

	/**
	 * Joins the decisions of all parts.
	 * @param later what some of them say after cancelling or counting; what failed stays
	 * reserved until the window ends
	 */
	private Decision join(List<Part> parts, List<Part> later) {
		requireSuccess(parts);
		Map<Object, List<LimitStatus>> statuses = new HashMap<>();
		Stream.concat(answers(parts), answers(later)).forEach((answer) -> put(answer.decision(), statuses));
		List<Decision> answers = answers(parts).map(Answer::decision).toList();
		return join(answers, this.request.enforced(), statuses).withShadows(this.request.shadows(), (charge) -> {
			String policy = charge.policy().name();
			return join(answers.stream().flatMap((answer) -> Stream.ofNullable(answer.shadows().get(policy))).toList(),
					List.of(charge), statuses);
		});
	}

	private static Stream<Answer> answers(List<Part> parts) {
		return parts.stream().flatMap((part) -> Stream.ofNullable(part.answer));
	}

	private static Decision join(List<Decision> answers, List<Charge> charges,
			Map<Object, List<LimitStatus>> statuses) {
		List<LimitStatus> ordered = charges.stream()
			.flatMap((charge) -> charge.identifiers().stream().map((each) -> List.of(charge.policy().name(), each)))
			.flatMap((each) -> statuses.getOrDefault(each, List.of()).stream())
			.toList();
		return new Decision(answers.stream().allMatch(Decision::allowed), ordered,
				answers.stream()
					.flatMap((answer) -> Stream.ofNullable(answer.blockedFor()))
					.max(Comparator.naturalOrder())
					.orElse(null));
	}

	private static void put(Decision answer, Map<Object, List<LimitStatus>> statuses) {
		statuses.putAll(answer.statuses()
			.stream()
			.collect(Collectors.groupingBy((status) -> List.of(status.policy().name(), status.identifier()))));
		answer.shadows().values().forEach((shadow) -> put(shadow, statuses));
	}

	/** A call, and its answer or failure. */
	private static final class Part {

		private final Operation operation;

		private final SlotRequest slot;

		private final ScriptCall call;

		/** Sends the same for one of the Redis keys. */
		private final Function<SlotRequest, Part> again;

		private @Nullable Answer answer;

		private @Nullable JedisException failure;

		Part(Operation operation, SlotRequest slot, ScriptCall call, Function<SlotRequest, Part> again) {
			this.operation = operation;
			this.slot = slot;
			this.call = call;
			this.again = again;
		}

		/** Does not give up a cancellation that takes too long. */
		void await(long deadline) {
			try {
				if (this.operation != Operation.CANCEL || this.call.await(deadline)) {
					this.answer = this.call.answer();
				}
			}
			catch (JedisException ex) {
				this.failure = ex;
			}
		}

	}

}
