package io.github.ratelimit.spring.web.address;

import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import org.eclipse.jetty.ee11.servlet.ServletContextRequest;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Returns data of requests as the server has received them, without the changes of
 * filters.
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
	 * Returns the address of the connection. Filters, and Jetty, lose it when a forwarded
	 * header is empty.
	 * @return the address; a server may replace it by that of a header
	 */
	static @Nullable String connection(HttpServletRequest request) {
		HttpServletRequest server = of(request);
		String text = server.getRemoteAddr();
		return (JETTY && (text == null || text.isBlank())) ? Jetty.connection(server) : text;
	}

	/** A separate class, because Jetty is optional. */
	private static final class Jetty {

		private Jetty() {
		}

		static @Nullable String connection(HttpServletRequest request) {
			try {
				return Request.getRemoteAddr(Request.unWrap(ServletContextRequest.getServletContextRequest(request)));
			}
			catch (IllegalStateException ex) {
				// The request is not of Jetty.
				return null;
			}
		}

	}

}
