import { health } from './actuator.js';

const INTERVAL = 2000;

/** Shows at the top of the page whether limits are enforced. */
export function startHealth() {
	const pill = document.getElementById('health');
	const look = async () => {
		const details = (await health())?.components?.ratelimit?.details;
		const store = details?.store ?? 'unknown';
		const text = details ? `Redis: ${store}` : 'The application does not answer';
		pill.classList.toggle('good', store === 'reachable');
		pill.classList.toggle('bad', store !== 'reachable');
		if (pill.textContent !== text) {
			pill.textContent = text;
		}
		setTimeout(look, INTERVAL);
	};
	look();
}
