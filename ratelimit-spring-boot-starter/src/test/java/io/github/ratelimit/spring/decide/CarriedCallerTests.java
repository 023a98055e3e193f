package io.github.ratelimit.spring.decide;

import java.util.concurrent.atomic.AtomicReference;

import io.github.ratelimit.Identifier;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CarriedCaller.Accessor}.
 */
@SuppressWarnings("try")
class CarriedCallerTests {

	private final AtomicReference<String> user = new AtomicReference<>("nobody");

	private final ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder()
		.contextRegistry(new ContextRegistry().registerThreadLocalAccessor(new CarriedCaller.Accessor()))
		.build();

	@BeforeEach
	void serve() {
		CarriedCaller.exchange(() -> {
			Identifier now = Identifier.user(this.user.get());
			return (name) -> now;
		});
	}

	@AfterEach
	void end() {
		CarriedCaller.exchange(null);
	}

	@Test
	void threadHasCallerWithinScopeAlone() {
		ContextSnapshot before = this.snapshots.captureAll();
		try (ContextSnapshot.Scope outer = before.setThreadLocals();
				ContextSnapshot.Scope inner = before.setThreadLocals()) {
			this.user.set("anna");
			assertThat(user()).isEqualTo("nobody");
		}
		assertThat(user()).isEqualTo("anna");
		Runnable carried = this.snapshots.captureAll().wrap(() -> {
			assertThat(user()).isEqualTo("anna");
		});
		carried.run();
		CarriedCaller.exchange(null);
		carried.run();
		assertThat(CarriedCaller.current()).isNull();
	}

	private static String user() {
		CarriedCaller caller = CarriedCaller.current();
		assertThat(caller).isNotNull();
		Identifier user = caller.find("user");
		assertThat(user).isNotNull();
		return user.value();
	}

}
