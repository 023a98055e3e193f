/* Reads what every application with the starter offers below /actuator. */

const BASE = '/actuator';

/** Returns an answer as JSON, or null if there is none. */
export async function getJson(path) {
	try {
		const response = await fetch(path, { cache: 'no-store' });
		return (response.ok || response.status === 503) ? await response.json() : null;
	}
	catch (error) {
		return null;
	}
}

export function policies() {
	return getJson(`${BASE}/ratelimits`);
}

export function health() {
	return getJson(`${BASE}/health`);
}

/** Returns the most denied identifiers, in descending order, with a maximum number for each policy. */
export async function denied(size) {
	return (await getJson(`${BASE}/ratelimits/denied?size=${size}`))?.denied ?? [];
}

export function block(identifier, policy, time) {
	return fetch(`${BASE}/ratelimits/blocks`, {
		method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ identifier, policy, time }),
	});
}

export function unblock(identifier, policy) {
	return fetch(`${BASE}/ratelimits/blocks?${new URLSearchParams({ identifier, policy })}`, { method: 'DELETE' });
}

export function countsUrl(policy, identifier) {
	return `${BASE}/ratelimits/counts?${new URLSearchParams({ policy, identifier })}`;
}

/** Returns the values of a meter by name, such as COUNT and TOTAL_TIME; empty if there is no such meter yet. */
export async function metric(name, tags = {}) {
	const query = Object.entries(tags).map(([tag, value]) => `tag=${encodeURIComponent(`${tag}:${value}`)}`).join('&');
	const meter = await getJson(`${BASE}/metrics/${name}?${query}`);
	return Object.fromEntries((meter?.measurements ?? []).map(({ statistic, value }) => [statistic, value]));
}

/** Calculates the increase of counts per second since the last call. */
export class Rates {

	#last = new Map();

	/** Returns the increase per second, or 0 at the first call. */
	of(name, count = 0, now = performance.now()) {
		const before = this.#last.get(name);
		this.#last.set(name, { count, now });
		return before ? Math.max(0, count - before.count) / ((now - before.now) / 1000) : 0;
	}

}
