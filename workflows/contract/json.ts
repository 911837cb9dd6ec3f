/** What can be stored, hashed and sent: JSON as RFC 8259 has it. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}
