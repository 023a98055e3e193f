/* The algorithms, and the most that each ever admits within a window: docs/algorithms.md has the proof. */

export const ALGORITHMS = [
	{
		name: 'fixed-window',
		text: 'One count for each window, aligned to the clock. Allows twice the quota around an edge.',
		bound: (quota) => 2 * quota,
	},
	{
		name: 'first-request-window',
		text: 'The same, but a window starts with the first request of a client.',
		bound: (quota) => 2 * quota,
	},
	{
		name: 'sliding-window-counter',
		text: 'Estimates a sliding window from two counts.',
		bound: (quota) => 2 * quota - 1,
	},
	{
		name: 'sliding-window',
		text: 'A log of bounded size. The default: never exceeds the quota.',
		bound: (quota) => quota,
	},
	{
		name: 'sliding-log',
		text: 'Stores the time of every allowed request. Exact.',
		bound: (quota) => quota,
	},
	{
		name: 'leaky-bucket',
		text: 'A full bucket at once, then one request at a time as it drains.',
		bound: (quota) => 2 * quota,
	},
	{
		name: 'token-bucket',
		text: 'The same, with an optional burst size.',
		bound: (quota) => 2 * quota,
	},
];
