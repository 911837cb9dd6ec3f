/** A call whose arguments are right, with the object that it is about. */
import { fingerprintOf, type Fingerprint } from '../../workflows/contract/ids';
import type { Json } from '../../workflows/contract/json';
import { sha256Of } from '../operate/storable-json';
import type { NamedObject } from '../../definition/find-refs';
import type { ToolFace } from './known-tool';

export interface ReadyCall {
  readonly ordinal: number;
  readonly face: ToolFace;
  /** The schema's output: what is approved, hashed and sent. */
  readonly args: Json;
  readonly argumentHash: string;
  readonly refs: readonly NamedObject[];
  /** `<kind>:<id>`. */
  readonly target?: string;
  readonly expectedVersion?: string;
}

/** The same for the same tool with the same canonical arguments. */
export const callFingerprint = (tool: string, argumentHash: string): Fingerprint =>
  fingerprintOf(sha256Of({ tool, arguments: argumentHash }));
