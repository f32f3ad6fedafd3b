import { localTimes } from './times.js';

localTimes(document);
