/** Request ids of the offline model server begin so; the provider's never do. Stored with a candidate, it tells them apart. */
export const OFFLINE_REQUEST_PREFIX = 'req_offline_';
