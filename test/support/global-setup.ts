import { BROKER_VARIABLE, startServiceBroker } from './service-broker';
import { keepBroker } from './kept-broker';

/** Before any integration file. Nothing is started yet: the broker does that when a test asks. */
async function globalSetup(): Promise<void> {
  const broker = await startServiceBroker();
  keepBroker(broker);
  // Workers inherit it.
  process.env[BROKER_VARIABLE] = broker.url;
}

// jest wants the function itself as the module.
export = globalSetup;
