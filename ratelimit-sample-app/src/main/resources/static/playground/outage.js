import { getJson } from './actuator.js';
import { html } from './svg.js';

const MODES = {
	local: 'This instance keeps limiting in memory.',
	allow: 'Everything is allowed, without limits.',
	deny: 'Everything is denied with 503.',
};

const INTERVAL = 500;
const SHOWN = 40;

/** Sends requests to an endpoint for each on-store-failure, and stops and starts Redis. */
export function startOutage() {
	const tiles = Object.entries(MODES).map(([mode, text]) => new Tile(mode, text));
	document.getElementById('outage-tiles').append(...tiles.map((tile) => tile.element));
	const button = document.getElementById('outage-send');
	let timer;
	button.addEventListener('click', () => {
		const sending = button.getAttribute('aria-pressed') === 'true';
		button.setAttribute('aria-pressed', !sending);
		button.textContent = sending ? 'Send requests' : 'Stop sending';
		button.classList.toggle('running', !sending);
		clearInterval(timer);
		if (!sending) {
			timer = setInterval(() => tiles.forEach((tile) => tile.send()), INTERVAL);
		}
	});
	startSwitch();
}

async function startSwitch() {
	const [stop, start] = ['redis-stop', 'redis-start'].map((id) => document.getElementById(id));
	const status = document.getElementById('redis-status');
	const show = (state) => {
		stop.disabled = !state?.running;
		start.disabled = !state || state.running;
		status.textContent = !state ? 'This application uses your Redis: stop and start it yourself.'
			: state.running ? 'Redis is running.' : 'Redis is stopped.';
	};
	const press = (action) => async () => {
		await fetch(`/redis/${action}`, { method: 'POST' });
		show(await getJson('/redis'));
	};
	stop.addEventListener('click', press('stop'));
	start.addEventListener('click', press('start'));
	show(await getJson('/redis'));
}

class Tile {

	#client = `page-${Math.random().toString(36).slice(2, 8)}`;
	#marks = html('p', { className: 'marks', ariaHidden: 'true' });
	#last = html('p', { className: 'last', textContent: 'No answer yet.' });

	constructor(mode, text) {
		this.url = `/outage/${mode}`;
		this.element = html('li', { className: 'tile' }, html('h4', {}, html('code', { textContent: mode })), html('p', { textContent: text }),
			this.#marks, this.#last);
		this.element.dataset.mode = mode;
	}

	async send() {
		let answer = { status: 0 };
		try {
			answer = await fetch(this.url, { headers: { 'X-Client': this.#client }, cache: 'no-store' });
		}
		catch (error) {
			// Shown as no answer.
		}
		const outcome = { 200: 'allowed', 429: 'denied' }[answer.status] ?? 'failed';
		this.#marks.append(html('i', { className: `mark ${outcome}` }));
		if (this.#marks.childElementCount > SHOWN) {
			this.#marks.firstElementChild.remove();
		}
		const remaining = answer.headers?.get('X-Rate-Limit-Remaining') ?? null;
		this.#last.textContent = (answer.status === 0) ? 'No answer.'
			: `${answer.status}, ${(remaining === null) ? 'no rate limit headers' : `${remaining} remaining`}`;
	}

}
