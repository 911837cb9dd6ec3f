/** Values from outside as JSON that every reader accepts, its canonical form and its hash. */
export { canonicalText, isJsonObject, sha256Of, toStorableJson } from '../../definition/storable-json';
