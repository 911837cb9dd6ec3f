/** Where a token becomes a session. A development link brings it behind `#`, which no browser sends anywhere. */
import { renderDocument } from '../render/layout';

export interface SignInProps {
  readonly next: string;
  readonly problem?: string;
}

export const renderSignIn = ({ next, problem }: SignInProps) =>
  renderDocument(
    { title: 'Sign in', script: 'signin.js' },
    <main id="main" class="narrow" tabindex={-1}>
      <section class="card">
        <h1>Holdfast</h1>
        <p>Here you see what agents do, answer what they ask, and approve what they may do.</p>
        <form method="post" action="/signin" class="stack" id="signin">
          <input type="hidden" name="next" value={next} />
          <div class="field">
            <label for="token">Your token</label>
            <p class="hint" id="token-hint">
              A JSON Web Token of your organisation's issuer. In development, use the link that was printed at the
              start.
            </p>
            <input
              id="token"
              name="token"
              type="password"
              autocomplete="off"
              spellcheck={false}
              required
              aria-describedby={problem === undefined ? 'token-hint' : 'token-error token-hint'}
              aria-invalid={problem === undefined ? undefined : 'true'}
            />
            {problem === undefined ? null : (
              <p class="field-error" id="token-error" role="alert">
                {problem}
              </p>
            )}
          </div>
          <button class="primary">Sign in</button>
        </form>
      </section>
    </main>,
  );
