/** Path prefix of all endpoints of the service. */
export const BASE_PATH = '/api';

/** Path prefix of what only the sandbox has. */
export const ADMIN_PATH = '/sandbox';
