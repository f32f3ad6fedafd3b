import { printable } from '../../base/config/printable.js';
import { eventText, type FollowedCar, followedText } from '../query/followed.js';
import { type Html, html } from './html.js';

/**
 * What happened to each followed car since the night before.
 * @param pageOf address of the page of a car; undefined in a document without other pages
 */
export const followedList = (cars: readonly FollowedCar[], pageOf?: (id: number) => string): Html =>
  html`${cars.map((car) => {
    const [id] = car.vehicle_ids;
    const words = printable(followedText(car));
    const head =
      pageOf !== undefined && id !== undefined ? html`<a href="${pageOf(id)}">${words}</a>` : words;
    return html`<h3>${head}</h3>${eventsOf(car)}`;
  })}`;

function eventsOf({ name, since, events }: FollowedCar): Html {
  if (events.length > 0)
    return html`<ul>${events.map(
      (event) =>
        html`<li>${event.link === null ? printable(eventText(event)) : html`<a href="${event.link}" rel="noreferrer">${printable(eventText(event))}</a>`}</li>`,
    )}</ul>`;
  const nothing =
    name === null
      ? 'The lake has no such car yet.'
      : since === null
        ? 'This is its first night.'
        : 'Nothing new.';
  return html`<p class="note">${nothing}</p>`;
}
