import { html, svg } from './svg.js';

const POINTS = 90;
const WIDTH = 300;

/** A line chart of the last minutes, with the latest values as text. */
export class Chart {

	#values;
	#lines;
	#numbers;
	#top;

	/**
	 * @param title the title
	 * @param series name and className of each line
	 * @param text formats a number
	 * @param height height of the drawing, in pixels
	 * @param least smallest maximum of the scale
	 */
	constructor({ title, series, text, height = 90, least = 1 }) {
		this.text = text;
		this.height = height;
		this.least = least;
		this.#values = series.map(() => []);
		this.#lines = series.map(({ className }) => svg('polyline', { class: className }));
		this.#numbers = series.map(() => html('b', { textContent: '–' }));
		this.#top = html('span', { className: 'top-value' });
		const drawing = svg('svg', { viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
			svg('line', { class: 'grid', x1: 0, x2: WIDTH, y1: 1, y2: 1 }),
			svg('line', { class: 'grid', x1: 0, x2: WIDTH, y1: height / 2, y2: height / 2 }),
			svg('line', { class: 'grid', x1: 0, x2: WIDTH, y1: height - 1, y2: height - 1 }), ...this.#lines);
		drawing.style.height = `${height}px`;
		const legend = html('ul', {}, ...series.map(({ name, className }, i) =>
			html('li', { className }, html('i', { className: 'line' }), this.#numbers[i], ` ${name}`)));
		this.element = html('figure', { className: 'chart' },
			html('figcaption', { textContent: title }), html('div', { className: 'drawing' }, this.#top, drawing), timeAxis(), legend);
	}

	/** Adds a value to each line; null repeats the previous value without a number. */
	push(numbers) {
		numbers.forEach((number, i) => {
			const values = this.#values[i];
			values.push(number ?? values.at(-1) ?? 0);
			if (values.length > POINTS) {
				values.shift();
			}
			this.#numbers[i].textContent = (number === null) ? '–' : this.text(number);
		});
		const top = Math.max(this.least, ...this.#values.flat());
		this.#top.textContent = this.text(top);
		this.#values.forEach((values, i) => this.#lines[i].setAttribute('points', points(values, top, this.height)));
	}

}

/** A small chart of two lines without numbers, for a table. */
export class Sparkline {

	#values = [[], []];
	#lines = [svg('polyline', { class: 'allowed' }), svg('polyline', { class: 'denied' })];

	constructor() {
		this.element = svg('svg', { class: 'sparkline', viewBox: `0 0 ${WIDTH} 24`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, ...this.#lines);
	}

	push(numbers) {
		numbers.forEach((number, i) => this.#values[i].push(number) > POINTS && this.#values[i].shift());
		const top = Math.max(1, ...this.#values.flat());
		this.#values.forEach((values, i) => this.#lines[i].setAttribute('points', points(values, top, 24)));
	}

}

function timeAxis() {
	return html('p', { className: 'time', ariaHidden: 'true' },
		...['3 min ago', '2 min', '1 min', 'now'].map((textContent) => html('span', { textContent })));
}

function points(values, top, height) {
	const step = WIDTH / (POINTS - 1);
	const start = WIDTH - (values.length - 1) * step;
	return values.map((value, i) => `${(start + i * step).toFixed(1)},${(height - 2 - value / top * (height - 4)).toFixed(1)}`).join(' ');
}
