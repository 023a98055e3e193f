import { getJson } from './actuator.js';
import { html } from './svg.js';
import { newClient, sendWhilePressed, Tile } from './tile.js';
import { yaml } from './yaml.js';

const MODES = {
	local: 'This instance keeps limiting in memory.',
	allow: 'Everything is allowed, without limits.',
	deny: 'Everything is denied with 503.',
};

/** Sends requests to an endpoint for each on-store-failure, and stops and starts Redis. */
export function startOutage() {
	const client = newClient('page');
	const tiles = Object.entries(MODES).map(([mode, text]) => {
		const tile = new Tile(`/outage/${mode}`, client, html('h4', {}, html('code', { textContent: mode })),
			html('p', { textContent: text }), yaml(`outage-${mode}`));
		tile.element.dataset.mode = mode;
		return tile;
	});
	document.getElementById('outage-tiles').append(...tiles.map((tile) => tile.element));
	sendWhilePressed(document.getElementById('outage-send'), () => tiles.forEach((tile) => tile.send()));
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
