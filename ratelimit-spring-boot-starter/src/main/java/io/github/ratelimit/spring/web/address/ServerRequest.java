package io.github.ratelimit.spring.web.address;

import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import org.eclipse.jetty.ee11.servlet.ServletContextRequest;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * What the server knows of a request, whatever filters say of it.
 */
final class ServerRequest {

	private static final boolean JETTY = ClassUtils.isPresent("org.eclipse.jetty.ee11.servlet.ServletContextRequest",
			ServerRequest.class.getClassLoader());

	private ServerRequest() {
	}

	/** Returns the request that filters have wrapped. */
	static HttpServletRequest of(HttpServletRequest request) {
		ServletRequest innermost = request;
		while (innermost instanceof ServletRequestWrapper wrapper) {
			innermost = wrapper.getRequest();
		}
		return (innermost instanceof HttpServletRequest server) ? server : request;
	}

	/**
	 * Returns the address of a request whose header names none: an empty header makes
	 * filters, and Jetty, forget the address of the connection.
	 * @return the address of the connection, or what the server takes for it
	 */
	static @Nullable String connection(HttpServletRequest request) {
		HttpServletRequest server = of(request);
		String text = server.getRemoteAddr();
		return (JETTY && (text == null || text.isBlank())) ? Jetty.connection(server) : text;
	}

	/** Apart, because Jetty may be missing. */
	private static final class Jetty {

		private Jetty() {
		}

		static @Nullable String connection(HttpServletRequest request) {
			try {
				return Request.getRemoteAddr(Request.unWrap(ServletContextRequest.getServletContextRequest(request)));
			}
			catch (IllegalStateException ex) {
				// It is the request of another server.
				return null;
			}
		}

	}

}
