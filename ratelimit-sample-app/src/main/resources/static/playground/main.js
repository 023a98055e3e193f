import { startHealth } from './health.js';
import { startLive } from './live.js';
import { startOutage } from './outage.js';
import { startRace } from './race.js';
import { showExamples } from './try.js';

startHealth();
startRace();
startLive();
startOutage();
showExamples();
