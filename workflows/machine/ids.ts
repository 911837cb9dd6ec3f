/** Ids carry their kind in their first letters; the brand keeps one kind from being passed for another. */

declare const brand: unique symbol;
type Branded<Kind extends string> = string & { readonly [brand]: Kind };

/** `run_…`, also the Temporal workflow id. */
export type RunId = Branded<'run'>;
/** `op_<run>_<step>_<ordinal>`: derived, so that every worker that asks again means the same operation. */
export type OperationId = Branded<'operation'>;
/** `wait_<run>_<seq>_<index>`: seq is that of the machine event that opened it. */
export type WaitId = Branded<'wait'>;
/** Lower-case hex SHA-256 of an artifact's bytes. */
export type ArtifactHash = Branded<'artifact'>;
/** `E<step>.<ordinal>`: what the model may cite. */
export type EvidenceId = Branded<'evidence'>;
/** The first 16 hex digits of a SHA-256: enough to compare within one run, small enough to be carried in its state. */
export type Fingerprint = Branded<'fingerprint'>;
export type TenantId = Branded<'tenant'>;

/** Brands an id that we derived ourselves; ids from outside are parsed by `contract/ids`. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the brand
export const parseDerivedId = <Id extends string>(derived: string): Id => derived as Id;
