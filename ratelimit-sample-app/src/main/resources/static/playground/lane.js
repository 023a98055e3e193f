import { metric } from './actuator.js';
import { ask } from './tile.js';
import { Track } from './track.js';

const HEADERS = ['RateLimit', 'X-Rate-Limit-Limit', 'X-Rate-Limit-Remaining', 'Retry-After'];

/** One algorithm of the race. */
export class Lane {

	#counts;
	#admitted = [];
	#peak = 0;
	#localBefore = null;

	/**
	 * @param algorithm one of ALGORITHMS
	 * @param limit quota, and window in milliseconds
	 * @param select is called with this lane when it is selected
	 */
	constructor(algorithm, limit, select) {
		this.name = algorithm.name;
		this.policy = `demo-${algorithm.name}`;
		this.limit = limit;
		this.bound = algorithm.bound(limit.quota);
		this.element = document.getElementById('lane-template').content.firstElementChild.cloneNode(true);
		this.element.dataset.algorithm = algorithm.name;
		this.button = this.#find('.lane-open');
		this.button.textContent = algorithm.name;
		this.button.addEventListener('click', () => select(this));
		this.inside = this.#find('.inside');
		this.#find('.lane-name p').textContent = `${algorithm.text} ${algorithm.take}`;
		this.track = new Track(this.#find('.track'), limit.window);
		this.#place('.quota', limit.quota);
		this.#place('.bound', this.bound);
		this.clear();
	}

	/** Sends a request, and shows its answer. */
	async send(client, cost) {
		const sent = performance.now();
		const { response, outcome } = await ask(`/demo/${this.name}?cost=${cost}`, { headers: { 'X-Client': client } });
		this.#count(outcome);
		this.track.add(outcome, sent);
		this.#find('.headers').textContent = describe(response);
		if (outcome === 'allowed') {
			this.#admit({ client, cost, sent });
		}
		return outcome;
	}

	/** Bounds apply to decisions of Redis. If it does not answer in time, this instance decides alone. */
	async lookForLocal() {
		const { COUNT = 0 } = await metric('ratelimit.decisions', { policy: this.policy, source: 'local' });
		this.#localBefore ??= COUNT;
		this.#count('local', COUNT - this.#localBefore - this.#counts.local);
	}

	clear() {
		this.#counts = { allowed: 0, denied: 0, failed: 0, local: 0 };
		this.#admitted = [];
		this.#peak = 0;
		this.#localBefore = null;
		this.lookForLocal();
		this.track.clear();
		Object.keys(this.#counts).forEach((outcome) => this.#count(outcome, 0));
		this.#find('.headers').textContent = 'No answer yet.';
		this.#showAdmitted(0);
	}

	render(now) {
		this.track.render(now);
		this.#showAdmitted(this.#fullest(now));
	}

	#count(outcome, by = 1) {
		this.#counts[outcome] += by;
		this.#find(`[data-count=${outcome}]`).textContent = this.#counts[outcome];
		this.#find(`.counts .${outcome}`).hidden = ['failed', 'local'].includes(outcome) && this.#counts[outcome] === 0;
	}

	/** The time from the first request to the last answer is at least as long as the time between their decisions. */
	#admit(request) {
		this.#admitted.push(request);
		this.#peak = Math.max(this.#peak, this.#fullest(performance.now()));
	}

	/** Returns what was admitted within the last window, for the client with the most. */
	#fullest(now) {
		this.#admitted = this.#admitted.filter(({ sent }) => sent > now - this.limit.window);
		const byClient = {};
		for (const { client, cost } of this.#admitted) {
			byClient[client] = (byClient[client] ?? 0) + cost;
		}
		return Math.max(0, ...Object.values(byClient));
	}

	#showAdmitted(used) {
		const { quota, text } = this.limit;
		const texts = { '.admitted': `${used} of ${quota} in the last ${text}`, '.extremes': `most ${this.#peak}, bound ${this.bound}` };
		for (const [line, shown] of Object.entries(texts).filter(([line, shown]) => this.#find(line).textContent !== shown)) {
			this.#find(line).textContent = shown;
			this.#find('.fill').style.width = this.#percent(used);
			this.#find('.gauge').classList.toggle('over', used > quota);
			this.#place('.peak', this.#peak);
		}
	}

	#place(mark, value) {
		this.#find(mark).style.left = this.#percent(value);
	}

	#percent(value) {
		return `${Math.min(100, value / (2 * this.limit.quota) * 100)}%`;
	}

	#find(selector) {
		return this.element.querySelector(selector);
	}

}

function describe(response) {
	if (response === null) {
		return 'No answer.';
	}
	const headers = HEADERS.filter((name) => response.headers.has(name)).map((name) => `${name}: ${response.headers.get(name)}`);
	return [`${response.status}`, ...headers].join('\n');
}
