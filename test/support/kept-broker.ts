import type { ServiceBroker } from './service-broker';

declare global {
  // jest loads setup and teardown apart, so a variable of a module would not reach from one to the other.
  var holdfastTestBroker: ServiceBroker | undefined;
}

export function keepBroker(broker: ServiceBroker): void {
  globalThis.holdfastTestBroker = broker;
}

export function takeBroker(): ServiceBroker | undefined {
  const broker = globalThis.holdfastTestBroker;
  globalThis.holdfastTestBroker = undefined;
  return broker;
}
