/** What this run asks people right now. */
import { KIND_WORDS } from '../words';
import type { ShownRun } from './load-run';

export const OpenWaits = ({ shown: { details } }: { readonly shown: ShownRun }) => {
  const open = details.waits.filter(({ state }) => state === 'OPEN');
  if (open.length === 0 || details.run.terminal !== undefined) return null;
  return (
    <section class="card asks" aria-labelledby="asks-title">
      <h2 id="asks-title">This run waits for a person</h2>
      <ul>
        {open.map(({ wait, kind }) => (
          <li>
            <a href={`/waits/${wait}`}>
              {KIND_WORDS[kind].name}: {KIND_WORDS[kind].asks}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
};
