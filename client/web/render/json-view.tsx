/** JSON as people read it: nested, every text whole, with what cannot be seen written out. */
import { showInvisibleIn } from '../../../responses/show-invisible';
import type { Json } from '../../../workflows/contract/json';

export const JsonView = ({ value }: { readonly value: Json }) => (
  <pre class="code" tabindex={0} role="region" aria-label="JSON">
    {JSON.stringify(showInvisibleIn(value), undefined, 2)}
  </pre>
);
