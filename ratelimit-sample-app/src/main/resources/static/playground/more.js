import { metric } from './actuator.js';
import { html } from './svg.js';

const TRIALS = [
	{
		name: 'concurrent', title: 'Calls at once', option: 'concurrent: 3',
		text: 'Each request takes a second. Six are sent at once: three run, and three are denied, whichever instance they reach.',
		requests: 6, atOnce: 6,
	},
	{
		name: 'lease', title: 'Leases', option: 'lease: 1s',
		text: '600 requests with a quota of 5,000 in ten seconds. This instance takes parts of the quota in advance, and few decisions ask Redis.',
		requests: 600, atOnce: 6, sources: true,
	},
	{
		name: 'penalty', title: 'Penalties', option: 'penalty.after: 5',
		text: 'Two requests a second where three are allowed in ten seconds. A client that is denied five times is blocked for 20 seconds, and longer each time. Denials from memory are told to Redis once a second.',
		requests: 15, atOnce: 1, pause: 500,
	},
];

const OUTCOMES = { 200: 'allowed', 429: 'denied' };
const MOST_MARKS = 60;

/** Shows what limits can do besides counting. */
export function startMore() {
	document.getElementById('more-tiles').append(...TRIALS.map((trial) => new Tile(trial).element));
}

class Tile {

	#client = `page-${Math.random().toString(36).slice(2, 8)}`;
	#marks = html('p', { className: 'marks', ariaHidden: 'true' });
	#result = html('p', { className: 'last', textContent: 'Nothing sent yet.' });

	constructor(trial) {
		this.trial = trial;
		this.#result.setAttribute('role', 'status');
		const send = html('button', { type: 'button', className: 'primary', textContent: `Send ${trial.requests} requests` });
		send.setAttribute('aria-label', `${trial.title}: send ${trial.requests} requests`);
		send.addEventListener('click', async () => {
			send.disabled = true;
			await this.#run();
			send.disabled = false;
		});
		this.element = html('li', { className: 'tile' }, html('h3', { textContent: trial.title }), html('p', {}, html('code', { textContent: trial.option })),
			html('p', { textContent: trial.text }), html('div', { className: 'actions' }, send), this.#marks, this.#result);
		this.element.dataset.trial = trial.name;
	}

	async #run() {
		const before = await this.#bySource();
		const counts = { allowed: 0, denied: 0, failed: 0 };
		let left = this.trial.requests;
		let retryAfter = null;
		this.#marks.replaceChildren();
		this.#result.textContent = 'Sending…';
		await Promise.all(Array.from({ length: this.trial.atOnce }, async () => {
			while (left-- > 0) {
				const answer = await this.#send();
				await new Promise((resolve) => setTimeout(resolve, this.trial.pause ?? 0));
				const outcome = OUTCOMES[answer.status] ?? 'failed';
				counts[outcome]++;
				retryAfter = answer.headers?.get('Retry-After') ?? retryAfter;
				if (this.#marks.childElementCount < MOST_MARKS) {
					this.#marks.append(html('i', { className: `mark ${outcome}` }));
				}
			}
		}));
		this.#result.textContent = [`${counts.allowed} allowed, ${counts.denied} denied`, ...counts.failed ? [`${counts.failed} without an answer`] : [],
			...retryAfter ? [`retry after ${retryAfter} s`] : [], ...await this.#asked(before)].join(', ');
	}

	async #send() {
		try {
			return await fetch(`/more/${this.trial.name}`, { headers: { 'X-Client': this.#client }, cache: 'no-store' });
		}
		catch (error) {
			return { status: 0 };
		}
	}

	/** Says which decisions Redis made, if that is what the trial shows. */
	async #asked(before) {
		const after = await this.#bySource();
		return after.map((count, i) => `${count - before[i]} ${['decided by Redis', 'from a lease'][i]}`);
	}

	async #bySource() {
		return this.trial.sources ? Promise.all(['store', 'lease'].map(async (source) =>
			(await metric('ratelimit.decisions', { policy: `more-${this.trial.name}`, source })).COUNT ?? 0)) : [];
	}

}
