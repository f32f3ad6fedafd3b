const MINUTE = 60_000;
const units = [
  ['day', 1440],
  ['hour', 60],
  ['minute', 1],
] as const;
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const local = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});

/** Writes how far off each auction is, and its time in the zone of the reader, before its time in UTC. */
export function localTimes(root: ParentNode): void {
  for (const time of root.querySelectorAll<HTMLTimeElement>('time.at:not([data-local])')) {
    const at = new Date(time.dateTime);
    const minutes = Math.round((at.getTime() - Date.now()) / MINUTE);
    const [unit, length] = units.find(([, size]) => Math.abs(minutes) >= size) ?? units[2];
    const utc = at.getTimezoneOffset() === 0 ? '' : ` (${time.textContent})`;
    time.dataset.local = '';
    const over = minutes < 0 ? 'over, ' : '';
    time.textContent = `${over}${relative.format(Math.trunc(minutes / length), unit)}, ${local.format(at)}${utc}`;
  }
}
