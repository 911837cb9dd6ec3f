/** The OpenAPI document of the routes that the service has. */
import type { App } from './service';
import { API_VERSION } from './version';

export type ApiDocument = ReturnType<App['getOpenAPI31Document']>;

export const describeApi = (app: App): ApiDocument => {
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Claims: `sub`, `tenant`, `roles` (`viewer`, `approver`, `operator`, and those of policies), `exp`.',
  });
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version: API_VERSION,
      description: 'Durable agent runs: start, watch, answer, approve, understand.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
  });
};
