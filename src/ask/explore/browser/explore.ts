import { localTimes } from './times.js';

/** Leaves empty fields out of the addresses of searches, so that a link says only what was asked. */
for (const form of document.querySelectorAll<HTMLFormElement>('form.filters'))
  form.addEventListener('formdata', ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === '') formData.delete(name);
  });

localTimes(document);

/** Dragging over the bars of a histogram searches for all of them. */
for (const bars of document.querySelectorAll<HTMLElement>('.histogram')) {
  const links = [...bars.querySelectorAll<HTMLAnchorElement>('a')];
  let from: number | undefined;
  const at = (x: number): number =>
    links.findIndex((link) => x <= (link.parentElement ?? link).getBoundingClientRect().right);
  const brushed = (x: number): readonly HTMLAnchorElement[] => {
    const to = at(x) === -1 ? links.length - 1 : at(x);
    const [low, high] = [Math.min(from ?? to, to), Math.max(from ?? to, to)];
    return links.slice(low, high + 1);
  };
  bars.addEventListener('dragstart', (event) => event.preventDefault());
  bars.addEventListener('pointerdown', (event) => {
    // Any other click is one on a link.
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    from = Math.max(0, at(event.clientX));
    bars.setPointerCapture(event.pointerId);
  });
  bars.addEventListener('pointermove', (event) => {
    if (from === undefined) return;
    const chosen = brushed(event.clientX);
    for (const link of links) link.classList.toggle('out', !chosen.includes(link));
  });
  bars.addEventListener('pointercancel', () => {
    from = undefined;
    for (const link of links) link.classList.remove('out');
  });
  bars.addEventListener('pointerup', (event) => {
    if (from === undefined) return;
    const chosen = brushed(event.clientX);
    from = undefined;
    const [first, last] = [chosen[0], chosen.at(-1)];
    if (first === undefined || last === undefined) return;
    const to = new URL(first.href);
    to.searchParams.set('price_from', first.dataset.from ?? '');
    to.searchParams.set('price', last.dataset.to ?? '');
    location.assign(to);
  });
}
