package io.github.ratelimit.spring.web;

import java.util.function.Supplier;

import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import org.jspecify.annotations.Nullable;

/**
 * Objects of which there is one for each request, in one of its attributes.
 */
final class PerRequest {

	private PerRequest() {
	}

	/**
	 * Returns the object of a request, and creates it if there is none. Threads that
	 * serve one request in parallel get the same.
	 */
	static <T> T get(ServletRequest request, Class<T> type, Supplier<T> create) {
		T found = find(request, type);
		if (found != null) {
			return found;
		}
		synchronized (unwrap(request)) {
			found = find(request, type);
			if (found != null) {
				return found;
			}
			T created = create.get();
			request.setAttribute(type.getName(), created);
			return created;
		}
	}

	/** Returns the object of a request; null if it was not created. */
	static <T> @Nullable T find(ServletRequest request, Class<T> type) {
		Object found = request.getAttribute(type.getName());
		return type.isInstance(found) ? type.cast(found) : null;
	}

	/** The request of the container, which is the same however it is wrapped. */
	private static ServletRequest unwrap(ServletRequest request) {
		ServletRequest innermost = request;
		while (innermost instanceof ServletRequestWrapper wrapper) {
			innermost = wrapper.getRequest();
		}
		return innermost;
	}

}
