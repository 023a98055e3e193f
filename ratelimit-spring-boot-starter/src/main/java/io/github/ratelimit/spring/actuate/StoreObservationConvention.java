package io.github.ratelimit.spring.actuate;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names and describes calls of the store in observations. A bean of this type replaces
 * the {@link DefaultStoreObservationConvention}.
 *
 * @since 0.1
 */
public interface StoreObservationConvention extends ObservationConvention<StoreObservationContext> {

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof StoreObservationContext;
	}

}
