import type { MartRow, WorldNight } from '../night.js';
import { profilesOf } from './offer_profiles.js';

export const rows = (night: WorldNight): Promise<MartRow[]> => profilesOf(night, 'branch');
