package io.github.ratelimit.sample;

import io.github.ratelimit.spring.web.RequestCost;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.stereotype.Component;
import org.springframework.util.MultiValueMap;
import org.springframework.web.util.UriComponentsBuilder;

/**
 * A cost that depends on the request: in the demo, the parameter {@code cost} is the cost
 * of a request, from 1 to 5.
 */
@Component
class DemoCost implements RequestCost {

	@Override
	public long cost(HttpServletRequest request, String policy, long configured) {
		String cost = policy.startsWith("demo-") ? parameters(request).getFirst("cost") : null;
		return (cost != null && cost.matches("[1-5]")) ? Long.parseLong(cost) : configured;
	}

	/** Those of the query: the body belongs to the handlers. */
	private static MultiValueMap<String, String> parameters(HttpServletRequest request) {
		return UriComponentsBuilder.newInstance().query(request.getQueryString()).build().getQueryParams();
	}

}
