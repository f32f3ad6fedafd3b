/** Stylesheet of the report: light and dark by the reader's choice, phone, and paper (always light). */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fdfdfb; --ink: #1c2024; --muted: #5f666d; --line: #e2e3df; --soft: #bcd3e6; --soft-ink: #8b9299;
  --tint: #f3f4f0; --alarm: #a62b00; --fine: #1d6b4f;
  --c0: #1f6aa5; --c1: #c8551b; --c2: #1d7a5f; --c3: #8a5a9e;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #15181b; --ink: #e8e6e1; --muted: #a0a6ac; --line: #2f3439; --soft: #2f5878; --soft-ink: #858c93;
    --tint: #1d2125; --alarm: #ff9a70; --fine: #6fcfa8;
    --c0: #6ab2e8; --c1: #f0945a; --c2: #5cc9a2; --c3: #c79ad8;
  }
}
* { box-sizing: border-box; }
html { background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 3.5rem 1.5rem 4rem; max-width: 70rem;
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums;
}
a { color: var(--c0); text-underline-offset: 0.2em; }
h1 { font-size: 2.25rem; line-height: 1.15; font-weight: 650; letter-spacing: -0.02em; margin: 0 0 0.5rem; }
h2 { font-size: 1.35rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; margin: 0 0 0.75rem; }
h3 { font-size: 1rem; line-height: 1.35; font-weight: 600; margin: 0 0 0.25rem; text-wrap: balance; }
p { margin: 0 0 0.75rem; max-width: 42rem; }
.meta { max-width: none; }
.meta, .note, .change, figcaption p { color: var(--muted); font-size: 0.9rem; }
.state { display: inline-block; margin: 0.5rem 0 0; font-size: 0.95rem; }
.fine { color: var(--fine); } .alarm { color: var(--alarm); font-weight: 600; }
nav { margin: 2rem 0 0; font-size: 0.9rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.35rem 1.25rem; list-style: none; margin: 0; padding: 0; }
.figures {
  display: grid; grid-template-columns: repeat(3, 1fr); gap: 2rem 1.25rem;
  margin: 2.5rem 0 0; padding: 2rem 0; border-block: 1px solid var(--line);
}
.figures div { min-width: 0; }
.figures dt { font-size: 0.9rem; color: var(--muted); }
.figures dd { margin: 0; }
.figures .value { font-size: 1.9rem; line-height: 1.25; font-weight: 600; letter-spacing: -0.02em; }
.figures .value.word { font-size: 1.1rem; line-height: 2.15; font-weight: 500; letter-spacing: 0; color: var(--muted); }
section { padding: 3rem 0 0; margin: 3rem 0 0; border-top: 1px solid var(--line); }
section:first-of-type { border-top: 0; margin-top: 0; }
figure { margin: 0; padding: 0; min-width: 0; }
figure + figure { margin-top: 2.75rem; }
.chart { max-width: 46rem; margin-top: 0.75rem; }
.chart svg { display: block; width: 100%; height: auto; max-width: 100%; color: var(--muted); overflow: visible; }
section > header { margin-bottom: 1.5rem; }
.narrow { display: none; max-width: 30rem; }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; list-style: none; margin: 0.5rem 0 0; padding: 0; font-size: 0.875rem; }
.legend svg { width: 0.9rem; height: 0.9rem; margin-right: 0.4rem; vertical-align: -0.1rem; overflow: visible; }
.words { color: var(--muted); background: var(--tint); padding: 1rem 1.25rem; border-radius: 0.35rem; max-width: 46rem; }
details { margin-top: 0.75rem; max-width: 46rem; }
summary { cursor: pointer; color: var(--muted); font-size: 0.9rem; padding: 0.15rem 0; }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: 0.875rem; margin: 0.5rem 0; width: 100%; }
th, td { padding: 0.3rem 0.9rem 0.3rem 0; text-align: left; vertical-align: baseline; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--muted); }
tbody th { font-weight: 400; color: var(--ink); }
th, td.number { white-space: nowrap; } tbody th { white-space: normal; min-width: 8rem; }
.number { text-align: right; }
th:last-child, td:last-child { padding-right: 0; }
.alarms { margin: 0 0 1.5rem; padding-left: 1.1rem; }
footer { margin-top: 4rem; padding-top: 1.5rem; border-top: 1px solid var(--line); color: var(--muted); font-size: 0.9rem; }
@media (min-width: 66rem) {
  section { display: grid; grid-template-columns: 17rem minmax(0, 46rem); column-gap: 3.5rem; }
  .figures { grid-template-columns: repeat(6, 1fr); }
  section > header { position: sticky; top: 2rem; align-self: start; }
}
@media screen and (max-width: 44rem) {
  body { padding: 2rem 1.25rem 3rem; }
  h1 { font-size: 1.75rem; }
  .figures { grid-template-columns: 1fr 1fr; gap: 1.5rem 1rem; }
  .figures .value { font-size: 1.5rem; }
  .wide { display: none; } .narrow { display: block; }
  section { padding-top: 2rem; margin-top: 2rem; }
}
@media print {
  @page { margin: 16mm 15mm; }
  body { padding: 0; max-width: none; font-size: 10.5pt; }
  nav, details:not([open]) { display: none; }
  .figures { grid-template-columns: repeat(3, 1fr); gap: 1.25rem; padding: 1.25rem 0; margin-top: 1.5rem; }
  section { display: block; padding-top: 1.25rem; margin-top: 1.5rem; }
  section > header { position: static; break-after: avoid; }
  figure, .words, tr { break-inside: avoid; }
  figcaption { break-after: avoid; }
  a { color: inherit; text-decoration: none; }
}
`;
