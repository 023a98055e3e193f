import { metric, policies, Rates } from './actuator.js';
import { Chart, Sparkline } from './chart.js';
import { showDenied } from './denied.js';
import { html } from './svg.js';

const INTERVAL = 2000;

const perSecond = (number) => number.toFixed(number < 10 ? 1 : 0);

const milliseconds = (number) => `${number.toFixed(number < 10 ? 2 : 0)} ms`;

/** Shows data of the actuator, every two seconds. */
export async function startLive() {
	const live = new Live();
	const look = async () => {
		if (!document.hidden) {
			await live.look();
		}
		setTimeout(look, INTERVAL);
	};
	look();
}

class Live {

	#rates = new Rates();
	#policies = new Map();

	#outcomes = new Chart({
		title: 'Decisions per second, by outcome', text: perSecond, series: [
			{ name: 'allowed', className: 'allowed', tags: ['allowed'] },
			{ name: 'denied', className: 'denied', tags: ['denied', 'denied-by-other', 'blocked'] },
			{ name: 'allowed without limits', className: 'local', tags: ['store-failed-allowed'] },
			{ name: 'denied without Redis', className: 'failed', tags: ['store-failed-denied'] },
		],
	});

	#sources = new Chart({
		title: 'Decisions per second, by source', text: perSecond, series: [
			{ name: 'Redis', className: 'allowed' },
			{ name: 'a lease', className: 'accent' },
			{ name: 'cache of denials', className: 'denied' },
			{ name: 'this instance alone', className: 'local' },
			{ name: 'none', className: 'failed' },
		],
	});

	#batches = new Chart({
		title: 'Round trips to Redis', text: perSecond, series: [
			{ name: 'per second', className: 'allowed' },
			{ name: 'decisions in each round trip', className: 'accent' },
			{ name: 'rejected per second', className: 'failed' },
		],
	});

	#latency = new Chart({
		title: 'Average time', text: milliseconds, series: [
			{ name: 'a round trip', className: 'allowed' },
			{ name: 'a decision', className: 'accent' },
		],
	});

	#breaker = new Chart({
		title: 'Breaker', text: (number) => (number ? 'yes' : 'no'), series: [
			{ name: 'open: Redis does not answer', className: 'denied' },
			{ name: 'limits are not enforced by Redis', className: 'failed' },
		],
	});

	#errors = new Chart({
		title: 'Failures per second', text: perSecond, series: [
			{ name: 'errors of Redis', className: 'denied' },
			{ name: 'too busy to answer in time', className: 'local' },
		],
	});

	constructor() {
		document.getElementById('charts').append(...[this.#outcomes, this.#sources, this.#batches, this.#latency, this.#breaker, this.#errors]
			.map((chart) => chart.element));
	}

	async look() {
		await Promise.all([this.#lookAtOutcomes(), this.#lookAtSources(), this.#lookAtStore(), this.#lookAtPolicies(), showDenied()]);
	}

	async #lookAtOutcomes() {
		const one = (outcome) => this.#rate('ratelimit.decisions', { outcome });
		const [allowed, denied, byOther, blocked, unlimited, refused] = await Promise.all(
			['allowed', 'denied', 'denied-by-other', 'blocked', 'store-failed-allowed', 'store-failed-denied'].map(one));
		this.#outcomes.push([allowed, denied + byOther + blocked, unlimited, refused]);
	}

	async #lookAtSources() {
		this.#sources.push(await Promise.all(['store', 'lease', 'denial-cache', 'local', 'none']
			.map((source) => this.#rate('ratelimit.decisions', { source }))));
	}

	async #lookAtStore() {
		const [calls, trips, decisions, full, busy, errors, open, failing] = await Promise.all(['redis.calls', 'redis.round-trips', 'decisions',
			'redis.queue-full', 'store.busy', 'store.errors', 'breaker.open', 'store.failing'].map((name) => metric(`ratelimit.${name}`)));
		const tripRate = this.#rates.of('trips', trips.COUNT);
		const callRate = this.#rates.of('calls', calls.TOTAL);
		this.#batches.push([tripRate, tripRate ? callRate / tripRate : null, this.#rates.of('full', full.COUNT)]);
		this.#latency.push([this.#average('trip', trips, tripRate), this.#average('decision', decisions, this.#rates.of('decisions', decisions.COUNT))]);
		this.#breaker.push([open.VALUE ?? 0, failing.VALUE ?? 0]);
		this.#errors.push([this.#rates.of('errors', errors.COUNT), this.#rates.of('busy', busy.COUNT)]);
	}

	/** Returns the average in milliseconds since the last call, or null if there was nothing. */
	#average(name, timer, rate) {
		const time = this.#rates.of(`time of ${name}`, timer.TOTAL_TIME);
		return rate ? time / rate * 1000 : null;
	}

	async #lookAtPolicies() {
		const enforced = Object.entries((await policies())?.policies ?? {});
		await Promise.all(enforced.map(async ([name, policy]) => {
			const row = this.#policies.get(name) ?? this.#addPolicy(name);
			row.show(policy);
			const rates = await Promise.all(['allowed', (policy.mode === 'shadow') ? 'shadow-denied' : 'denied'].map((outcome) => this.#rate('ratelimit.decisions', { policy: name, outcome })));
			row.push(rates);
		}));
	}

	#addPolicy(name) {
		const row = new PolicyRow(name);
		this.#policies.set(name, row);
		document.querySelector('#policies tbody').append(row.element);
		return row;
	}

	async #rate(name, tags) {
		const { COUNT } = await metric(name, tags);
		return this.#rates.of(`${name} ${JSON.stringify(tags)}`, COUNT);
	}

}

/** A policy in the table. */
class PolicyRow {

	#sparkline = new Sparkline();
	#texts = Array.from({ length: 4 }, () => html('td'));
	#numbers = Array.from({ length: 2 }, () => html('td', { className: 'number', textContent: '0.0' }));

	constructor(name) {
		this.element = html('tr', {}, html('th', { scope: 'row', textContent: name }), ...this.#texts, ...this.#numbers,
			html('td', {}, this.#sparkline.element));
	}

	show({ enabled, limits, concurrent, algorithm, identifiers, onStoreFailure, mode }) {
		const texts = [[...limits, ...concurrent ? [`${concurrent} at once`] : []].join(', '), algorithm, identifiers.join(', '),
			!enabled ? 'switched off' : (mode === 'shadow') ? 'only reported' : onStoreFailure];
		texts.forEach((text, i) => {
			this.#texts[i].textContent = text;
		});
	}

	push(rates) {
		rates.forEach((rate, i) => {
			this.#numbers[i].textContent = perSecond(rate);
		});
		this.#sparkline.push(rates);
	}

}
