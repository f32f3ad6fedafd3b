import { ConfigError } from '../config/lotlake-error.js';
import { didYouMean } from '../config/nearest.js';
import { type StreamName, streamNames } from '../service/streams.js';

/** The stream of a name that a person gave. Throws ConfigError that names the streams there are. */
export function streamOf(name: string, where: string): StreamName {
  const found = streamNames.find((stream) => stream === name);
  if (found !== undefined) return found;
  throw new ConfigError(
    `${where}: there is no stream ${name}${didYouMean(name, streamNames)}`,
    `streams: ${streamNames.join(', ')}`,
  );
}
