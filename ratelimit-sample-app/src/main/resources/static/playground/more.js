import { block, metric, unblock } from './actuator.js';
import { html } from './svg.js';
import { ask, newClient } from './tile.js';
import { yaml } from './yaml.js';

/* What each trial sends, by which user if that matters, and which decisions it counts. */
const TRIALS = [
	{
		name: 'plans', title: 'Plans', settings: ['plan'],
		text: 'Free users have other limits than those who pay. Here the header X-User stands for the login: free-1, pro-1.',
		requests: 12, users: ['free', 'pro'],
	},
	{
		name: 'shadow', title: 'Shadow mode',
		text: 'Try a limit on real traffic before it denies anybody: it counts and reports, and sends no headers.',
		requests: 8, counted: { 'would be denied': { outcome: 'shadow-denied' } },
	},
	{
		name: 'block', title: 'Blocks', settings: ['management'],
		text: 'Denies a client whatever its limits say, on all instances: by the endpoint ratelimits, or in code by the bean BlockList.',
		requests: 1, blocks: '1m',
	},
	{
		name: 'penalty', title: 'Penalties',
		text: 'Two requests a second where three are allowed in ten seconds. A client that is denied five times is blocked for 20 seconds, and longer each time. Denials from memory are told to Redis once a second.',
		requests: 15, pause: 500,
	},
	{
		name: 'concurrent', title: 'Calls at once',
		text: 'Each request takes a second. Six are sent at once: three run, and three are denied, whichever instance they reach.',
		requests: 6, atOnce: 6,
	},
	{
		name: 'lease', title: 'Leases',
		text: '600 requests with a quota of 5,000 in ten seconds. This instance takes parts of the quota in advance, and few decisions ask Redis.',
		requests: 600, atOnce: 6, counted: { 'decided by Redis': { source: 'store' }, 'from a lease': { source: 'lease' } },
	},
];

const MOST_MARKS = 60;

/** Shows what limits can do besides counting. */
export function startMore() {
	document.getElementById('more-tiles').append(...TRIALS.map((trial) => new Trial(trial).element));
}

class Trial {

	#client = newClient('page');
	#marks = html('p', { className: 'marks', ariaHidden: 'true' });
	#result = html('p', { className: 'last', textContent: 'Nothing sent yet.' });
	#actions = html('div', { className: 'actions' });

	constructor(trial) {
		this.trial = trial;
		this.policy = `more-${trial.name}`;
		this.#result.setAttribute('role', 'status');
		const send = (trial.requests === 1) ? 'Send a request' : `Send ${trial.requests} requests`;
		for (const user of trial.users ?? [null]) {
			this.#addButton(user ? `Send ${trial.requests} as ${user}` : send, 'primary', () => this.#run(user));
		}
		if (trial.blocks) {
			const client = `header:X-Client:${this.#client}`;
			this.#addButton('Block', '', () => this.#say('Blocked', block(client, this.policy, trial.blocks)));
			this.#addButton('Unblock', '', () => this.#say('Unblocked', unblock(client, this.policy)));
		}
		this.element = html('li', { className: 'tile' }, html('h3', { textContent: trial.title }), html('p', { textContent: trial.text }),
			yaml(...trial.settings ?? [], this.policy), this.#actions, this.#marks, this.#result);
		this.element.dataset.trial = trial.name;
	}

	#addButton(text, className, press) {
		const button = html('button', { type: 'button', className, textContent: text });
		button.setAttribute('aria-label', `${this.trial.title}: ${text}`);
		button.addEventListener('click', async () => {
			button.disabled = true;
			await press();
			button.disabled = false;
		});
		this.#actions.append(button);
	}

	async #say(done, answer) {
		const { ok, status } = await answer;
		this.#result.textContent = ok ? `${done}.` : (status === 404) ? 'There is no block.' : `Not done: ${status}.`;
	}

	async #run(user) {
		const headers = user ? { 'X-User': `${user}-${this.#client}` } : { 'X-Client': this.#client };
		const before = await this.#counted();
		const counts = { allowed: 0, denied: 0, failed: 0 };
		let left = this.trial.requests;
		let retryAfter = null;
		this.#marks.replaceChildren();
		this.#result.textContent = 'Sending…';
		await Promise.all(Array.from({ length: this.trial.atOnce ?? 1 }, async () => {
			while (left-- > 0) {
				const { response, outcome } = await ask(`/more/${this.trial.name}`, headers);
				await new Promise((resolve) => setTimeout(resolve, this.trial.pause ?? 0));
				counts[outcome]++;
				retryAfter = response?.headers.get('Retry-After') ?? retryAfter;
				if (this.#marks.childElementCount < MOST_MARKS) {
					this.#marks.append(html('i', { className: `mark ${outcome}` }));
				}
			}
		}));
		this.#result.textContent = [`${user ? `${user}: ` : ''}${counts.allowed} allowed, ${counts.denied} denied`, ...counts.failed ? [`${counts.failed} without an answer`] : [],
			...retryAfter ? [`retry after ${retryAfter} s`] : [],
			...(await this.#counted()).map(([text, count], i) => `${count - before[i][1]} ${text}`)].join(', ');
	}

	/** Returns how many decisions there were of each kind that the trial counts. */
	#counted() {
		return Promise.all(Object.entries(this.trial.counted ?? {}).map(async ([text, tags]) =>
			[text, (await metric('ratelimit.decisions', { policy: this.policy, ...tags })).COUNT ?? 0]));
	}

}
