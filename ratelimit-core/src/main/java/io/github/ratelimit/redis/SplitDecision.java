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
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.connection.Carrier;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.Answer;
import io.github.ratelimit.redis.script.Operation;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.ScriptCall;
import io.github.ratelimit.redis.script.Scripts;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A request that several calls decide, which are sent together. Each holds what it
 * allows; if one of them denies the request, or fails, the others are cancelled. One that
 * is answered when nobody waits for it any more is cancelled then. What is in shadow mode
 * is cancelled as well if one of them denies that.
 *
 * @param budget how long it may take to cancel, which may be after the deadline
 */
record SplitDecision(Scripts scripts, Servers servers, RateLimitRequest request, Duration budget, long deadline) {

	Decision peek(List<SlotRequest> slots) {
		return join(ask(Operation.PEEK, slots), List.of());
	}

	/** Does the same everywhere, and expects no answer. */
	void run(Operation operation, List<SlotRequest> slots) {
		failure(ask(operation, slots));
	}

	/** Decides, all or nothing. */
	Decision acquire(List<SlotRequest> slots) {
		List<Part> parts = ask(Operation.HOLD, slots);
		if (parts.stream().anyMatch((part) -> part.failure != null)) {
			parts.forEach((part) -> abandon(part.slot, part.answer));
		}
		Decision decision = join(parts, List.of());
		List<Part> cancelled = new ArrayList<>();
		List<Part> counted = new ArrayList<>();
		for (Part part : parts) {
			Answer held = Objects.requireNonNull(part.answer);
			cancelled.addAll(cancel(part.slot, held, decision));
			counted.addAll(countDenials(part.slot, held, decision));
		}
		if (cancelled.isEmpty() && counted.isEmpty()) {
			return decision;
		}
		List<Part> later = await(Operation.CANCEL, cancelled);
		later.addAll(await(Operation.ACQUIRE, counted));
		return join(parts, later);
	}

	/**
	 * Counts what was denied in shadow mode, of policies that count denied requests. They
	 * hold nothing of it: a log that is full would forget others for it.
	 */
	private List<Part> countDenials(SlotRequest slot, Answer held, Decision decision) {
		return slot.request()
			.shadows()
			.stream()
			.filter((charge) -> slot.scope() != Scope.BLOCKS && counts(charge, decision)
					&& !isHeld(charge, held.decision()))
			.map((charge) -> send(Operation.ACQUIRE, slot.of(List.of(enforced(charge)))))
			.toList();
	}

	private List<Part> ask(Operation operation, List<SlotRequest> slots) {
		return await(operation, slots.stream().map((slot) -> send(operation, slot)).toList());
	}

	private Part send(Operation operation, SlotRequest slot) {
		ScriptCall call = this.scripts.call(operation, slot.scope(), slot.request(), this.deadline);
		if (operation == Operation.HOLD) {
			call.onLateAnswer((answer) -> abandon(slot, answer));
		}
		return submit(slot, call, (key) -> send(operation, key));
	}

	private Part submit(SlotRequest slot, ScriptCall call, Function<SlotRequest, Part> again) {
		this.servers.submit(call);
		return new Part(slot, call, again);
	}

	/**
	 * Waits for answers. What a node cannot do, because the slot is moving, is done Redis
	 * key by Redis key.
	 */
	private List<Part> await(Operation operation, List<Part> parts) {
		List<Part> answered = new ArrayList<>();
		List<Part> further = new ArrayList<>();
		for (Part part : parts) {
			part.await(operation, this.deadline);
			if (!Carrier.isMoving(part.failure) || part.slot.scope() != Scope.ALL) {
				answered.add(part);
			}
			else {
				part.slot.byKey(operation == Operation.HOLD || operation == Operation.PEEK)
					.forEach((key) -> further.add(part.again.apply(key)));
			}
		}
		if (!further.isEmpty()) {
			answered.addAll(await(operation, further));
		}
		return answered;
	}

	/**
	 * Gives back what was held, and waits for nothing. Redis key by Redis key, because
	 * nobody would learn that the slot is moving.
	 */
	private void abandon(SlotRequest slot, @Nullable Answer held) {
		if (held != null && slot.scope() != Scope.BLOCKS) {
			slot.byKey(false).forEach((key) -> cancel(key, held, null));
		}
	}

	/**
	 * Gives back what was held, and does not stay counted.
	 * @param decision what the request has come to; {@code null} if nothing stays counted
	 * @return a call that was sent, or none if there is nothing to give back
	 */
	private List<Part> cancel(SlotRequest slot, Answer held, @Nullable Decision decision) {
		Predicate<Charge> stays = (charge) -> stays(charge, held.decision(), decision);
		List<Charge> denied = slot.request()
			.charges()
			.stream()
			.filter((charge) -> decision == null || !isAllowed(charge, decision))
			.map(SplitDecision::enforced)
			.toList();
		if (slot.scope() == Scope.BLOCKS || denied.stream().allMatch(stays)) {
			return List.of();
		}
		return List.of(cancel(slot.of(denied), stays, held.heldAt()));
	}

	/** It may be sent when the time of the decision is over, or quota would stay held. */
	private Part cancel(SlotRequest slot, Predicate<Charge> stays, long heldAt) {
		ScriptCall call = this.scripts.cancel(slot.request(), slot.scope(), stays, heldAt,
				System.nanoTime() + this.budget.toNanos());
		return submit(slot, call, (key) -> cancel(key, stays, heldAt));
	}

	private static Charge enforced(Charge charge) {
		return new Charge(charge.policy(), charge.identifiers(), charge.cost());
	}

	private static boolean isAllowed(Charge charge, Decision decision) {
		return decision.allowed() && (!charge.shadow() || decision.shadow(charge).allowed());
	}

	/** Whether a charge was not counted by a call, or stays counted. */
	private static boolean stays(Charge charge, Decision held, @Nullable Decision decision) {
		return !isHeld(charge, held) || (decision != null && counts(charge, decision));
	}

	private static boolean isHeld(Charge charge, Decision held) {
		Decision shadow = held.shadows().get(charge.policy().name());
		return (shadow != null) ? held.allowed() && shadow.allowed() : counts(charge, held);
	}

	/**
	 * Whether a charge counts if this is all that is decided. In shadow mode, that it is
	 * denied counts only where the request is allowed.
	 */
	private static boolean counts(Charge charge, Decision decision) {
		Decision shadow = decision.shadows().get(charge.policy().name());
		if (shadow != null) {
			return decision.allowed() && counts(charge, shadow);
		}
		return decision.allowed() || (charge.policy().countDenied() && decision.blockedFor() == null
				&& decision.statuses().stream().allMatch((status) -> status.retryAfter() != null));
	}

	private static void failure(List<Part> parts) {
		for (Part part : parts) {
			if (part.failure != null) {
				throw part.failure;
			}
		}
	}

	/**
	 * Puts a decision together.
	 * @param later how some of the parts stand by now; those that failed hold quota until
	 * the window ends
	 */
	private Decision join(List<Part> parts, List<Part> later) {
		failure(parts);
		Map<List<Object>, List<LimitStatus>> statuses = new HashMap<>();
		List<Decision> answers = parts.stream().map((part) -> Objects.requireNonNull(part.answer).decision()).toList();
		answers.forEach((answer) -> put(answer, statuses));
		for (Part part : later) {
			if (part.answer != null) {
				put(part.answer.decision(), statuses);
			}
		}
		return join(answers, this.request.enforced(), statuses).withShadows(this.request.shadows(), (charge) -> {
			String policy = charge.policy().name();
			return join(answers.stream().flatMap((answer) -> Stream.ofNullable(answer.shadows().get(policy))).toList(),
					List.of(charge), statuses);
		});
	}

	private static Decision join(List<Decision> answers, List<Charge> charges,
			Map<List<Object>, List<LimitStatus>> statuses) {
		List<LimitStatus> ordered = new ArrayList<>();
		for (Charge charge : charges) {
			for (Identifier identifier : charge.identifiers()) {
				ordered.addAll(statuses.getOrDefault(List.of(charge.policy().name(), identifier), List.of()));
			}
		}
		return new Decision(answers.stream().allMatch(Decision::allowed), ordered,
				answers.stream()
					.flatMap((answer) -> Stream.ofNullable(answer.blockedFor()))
					.max(Comparator.naturalOrder())
					.orElse(null));
	}

	private static void put(Decision answer, Map<List<Object>, List<LimitStatus>> statuses) {
		Map<List<Object>, List<LimitStatus>> present = new HashMap<>();
		for (LimitStatus status : answer.statuses()) {
			present.computeIfAbsent(List.of(status.policy().name(), status.identifier()), (key) -> new ArrayList<>())
				.add(status);
		}
		statuses.putAll(present);
		answer.shadows().values().forEach((shadow) -> put(shadow, statuses));
	}

	/** One call, and what became of it. */
	private static final class Part {

		private final SlotRequest slot;

		private final ScriptCall call;

		/** Does the same for one of the Redis keys. */
		private final Function<SlotRequest, Part> again;

		private @Nullable Answer answer;

		private @Nullable JedisException failure;

		Part(SlotRequest slot, ScriptCall call, Function<SlotRequest, Part> again) {
			this.slot = slot;
			this.call = call;
			this.again = again;
		}

		/** A call that cancels goes on without this if it takes too long. */
		void await(Operation operation, long deadline) {
			try {
				if (operation != Operation.CANCEL || this.call.await(deadline)) {
					this.answer = this.call.answer();
				}
			}
			catch (JedisException ex) {
				this.failure = ex;
			}
		}

	}

}
