/** Text that every strict parser accepts. */
export { takeEnd, takeStart, toWellFormed } from '../../definition/well-formed';
