import { block, metric, unblock } from './actuator.js';
import { logIn } from './login.js';
import { html } from './svg.js';
import { ask, newClient } from './tile.js';
import { waitInLine } from './waiting.js';
import { settings, yaml } from './yaml.js';

/* What each trial sends, by which user if that matters, and which decisions it counts; or its own buttons, which return what to say. */
const TRIALS = [
	{
		name: 'plans', title: 'Plans', settings: ['plan', 'more-plans'],
		text: 'Free users have other limits than those who pay. Here the header X-User stands for the login: free-1, pro-1.',
		requests: 12, users: ['free', 'pro'],
	},
	{
		name: 'month', title: 'Calendar months',
		text: 'A quota of the calendar: of a month, a week, a year, or a day of a time zone. Retry-After leads to the end of the month there.',
		requests: 6, full: windowEnd,
	},
	{
		name: 'shadow', title: 'Shadow mode',
		text: 'Try a limit on real traffic before it denies anybody: it counts and reports, and sends no headers.',
		requests: 8, counted: { 'would be denied': { outcome: 'shadow-denied' } },
	},
	{
		name: 'login', title: 'A success clears', settings: ['more-login', 'more-login-address'],
		text: 'Wrong passwords use up the attempts for an account from an address. The right one clears them, and not those of the address: who has an account of his own could guess on for others.',
		buttons: { 'Wrong password': (trial) => logIn(trial, 'wrong'), 'Right password': (trial) => logIn(trial, 'right') },
	},
	{
		name: 'waiting', title: 'Waiting',
		text: 'Calls to others rather wait than be denied. After the first caller three more come, and stand in line. The last may wait one second only: that cannot suffice, so it is denied at once.',
		buttons: { 'Send 4 callers': waitInLine },
	},
	{
		name: 'block', title: 'Blocks', settings: ['management', 'more-block'],
		text: 'Denies a client whatever its limits say, on all instances: by the endpoint ratelimits, or in code by the bean BlockList.',
		requests: 1, buttons: {
			Block: async ({ client, policy }) => said('Blocked', await block(`header:X-Client:${client}`, policy, '1m')),
			Unblock: async ({ client, policy }) => said('Unblocked', await unblock(`header:X-Client:${client}`, policy)),
		},
	},
	{
		name: 'penalty', title: 'Penalties',
		text: 'Two requests a second where three are allowed in ten seconds. A client that is denied five times is blocked for 20 seconds, and longer each time. Denials from memory are told to Redis once a second.',
		requests: 15, pause: 500,
	},
	{
		name: 'concurrent', title: 'Concurrent calls',
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

function said(done, { ok, status }) {
	return ok ? `${done}.` : (status === 404) ? 'There is no block.' : `Not done: ${status}.`;
}

/** Returns when a full window of the calendar ends, by the clock of the server. */
async function windowEnd(policy, denied) {
	const [, zone] = /zone: (\S+)/.exec(await settings(policy));
	const end = Date.parse(denied.headers.get('Date')) + denied.headers.get('Retry-After') * 1000;
	const minute = new Date(Math.round(end / 60_000) * 60_000);
	return `full until ${minute.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: zone })}, ${zone}`;
}

class Trial {

	client = newClient('page');
	#marks = html('p', { className: 'marks', ariaHidden: 'true' });
	#result = html('p', { className: 'last', textContent: 'Nothing sent yet.' });
	#actions = html('div', { className: 'actions' });

	constructor(trial) {
		this.trial = trial;
		this.policy = `more-${trial.name}`;
		this.#result.setAttribute('role', 'status');
		const send = (trial.requests === 1) ? 'Send a request' : `Send ${trial.requests} requests`;
		for (const user of trial.requests ? trial.users ?? [null] : []) {
			this.#addButton(user ? `Send ${trial.requests} as ${user}` : send, 'primary', () => this.#run(user));
		}
		for (const [text, press] of Object.entries(trial.buttons ?? {})) {
			this.#addButton(text, this.#actions.childElementCount ? '' : 'primary', () => press(this));
		}
		this.element = html('li', { className: 'tile' }, html('h3', { textContent: trial.title }), html('p', { textContent: trial.text }),
			yaml(...trial.settings ?? [this.policy]), this.#actions, this.#marks, this.#result);
		this.element.dataset.trial = trial.name;
	}

	#addButton(text, className, press) {
		const button = html('button', { type: 'button', className, textContent: text });
		button.setAttribute('aria-label', `${this.trial.title}: ${text}`);
		button.addEventListener('click', async () => {
			button.disabled = true;
			this.say(await press().catch(() => 'No answer.'));
			button.disabled = false;
		});
		this.#actions.append(button);
	}

	say(text) {
		this.#result.textContent = text;
	}

	/** Begins to send. */
	clear() {
		this.#marks.replaceChildren();
		this.say('Sending…');
	}

	mark(outcome) {
		if (this.#marks.childElementCount < MOST_MARKS) {
			this.#marks.append(html('i', { className: `mark ${outcome}` }));
		}
	}

	async #run(user) {
		const headers = user ? { 'X-User': `${user}-${this.client}` } : { 'X-Client': this.client };
		const before = await this.#counted();
		const counts = { allowed: 0, denied: 0, failed: 0 };
		let left = this.trial.requests;
		let denied = null;
		this.clear();
		await Promise.all(Array.from({ length: this.trial.atOnce ?? 1 }, async () => {
			while (left-- > 0) {
				const { response, outcome } = await ask(`/more/${this.trial.name}`, { headers });
				await new Promise((resolve) => setTimeout(resolve, this.trial.pause ?? 0));
				counts[outcome]++;
				denied = response?.headers.has('Retry-After') ? response : denied;
				this.mark(outcome);
			}
		}));
		return [`${user ? `${user}: ` : ''}${counts.allowed} allowed, ${counts.denied} denied`, ...counts.failed ? [`${counts.failed} without an answer`] : [],
			...denied ? [`retry after ${denied.headers.get('Retry-After')} s`] : [],
			...denied && this.trial.full ? [await this.trial.full(this.policy, denied)] : [],
			...(await this.#counted()).map(([text, count], i) => `${count - before[i][1]} ${text}`)].join(', ');
	}

	/** Returns how many decisions there were of each kind that the trial counts. */
	#counted() {
		return Promise.all(Object.entries(this.trial.counted ?? {}).map(async ([text, tags]) =>
			[text, (await metric('ratelimit.decisions', { policy: this.policy, ...tags })).COUNT ?? 0]));
	}

}
