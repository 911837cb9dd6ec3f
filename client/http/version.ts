/** Of the interface, not of the package: raised when a client has to change. */
export const API_VERSION = '1.0.0';
