/* The algorithms, and the most that each ever admits within a window: docs/algorithms.md has the proof. */

export const ALGORITHMS = [
	{
		name: 'fixed-window',
		text: 'One count for each window of the clock. At an edge two quotas meet.',
		bound: (quota) => 2 * quota,
	},
	{
		name: 'first-request-window',
		text: 'The same, but a window begins with the first request of a client.',
		bound: (quota) => 2 * quota,
	},
	{
		name: 'sliding-window-counter',
		text: 'Estimates a sliding window from two counts.',
		bound: (quota) => 2 * quota - 1,
	},
	{
		name: 'sliding-window',
		text: 'A log of bounded size. The default: never beyond the quota.',
		bound: (quota) => quota,
	},
	{
		name: 'sliding-log',
		text: 'The time of every allowed request. Exact.',
		bound: (quota) => quota,
	},
	{
		name: 'leaky-bucket',
		text: 'A full bucket at once, then one by one as it drains.',
		bound: (quota) => 2 * quota,
	},
	{
		name: 'token-bucket',
		text: 'The same, with a burst of its own size if you set one.',
		bound: (quota) => 2 * quota,
	},
];
