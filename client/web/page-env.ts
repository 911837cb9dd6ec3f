/** What the page's handlers find in their context. */
import type { Context } from 'hono';
import type { AppEnv } from '../http/service';

export interface PageEnv {
  Variables: AppEnv['Variables'] & {
    /** Goes into every form. */
    readonly formToken: string;
  };
}

export type PageContext = Context<PageEnv>;
