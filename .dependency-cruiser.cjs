// The arrows between folders. A rule's comment is its reason: it is printed with a violation and in docs/generated.

const ANY_SOURCE =
  '^(index\\.ts$|activities/|bench/|cli/|client/|config/|definition/|examples/|policy/|relays/|responses/|scripts/|store/|testing/|workers/|workflows/)';
const MACHINE = '^workflows/machine/';
const MACHINE_VOCABULARY = '^workflows/machine/(states|events|effects|ids|ledger|operation-transitions)\\.ts$';
const CONTRACT = '^workflows/contract/';
const WORKFLOW_CODE = '^workflows/(?!machine/|contract/)';
const STORE_FACE = '^store/(?!postgres/)';
const NODE_MODULES = '(^|/)node_modules/';

/** Packages without input, output, clock or randomness: the only ones that may enter the workflow sandbox. */
const PURE_PACKAGES = ['zod', 'canonicalize', '@noble/hashes', '@temporalio/common'];
const inNodeModules = (names) => `${NODE_MODULES}(${names.join('|').replaceAll('/', '\\/')})/`;

/** @param {string} name @param {string} comment @param {object} from @param {object} to */
const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** Forbids every import between our own folders except those listed. */
const only = (name, folder, allowed, comment) =>
  forbid(`${name}-arrows`, comment, { path: folder }, { path: `${ANY_SOURCE}|^test/`, pathNot: [folder, ...allowed] });

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    only(
      'machine',
      MACHINE,
      [],
      'The machine decides; it imports nothing but itself, so that it can be read and tested alone.',
    ),
    forbid(
      'machine-is-pure',
      'No package and no Node module can enter the machine: time, ids and limits come with the event.',
      { path: MACHINE },
      { pathNot: MACHINE },
    ),
    forbid(
      'contract-arrows',
      "The contract is what all others import, so it may need only the machine's types and vocabulary.",
      { path: CONTRACT },
      { path: `${ANY_SOURCE}|^test/`, pathNot: [CONTRACT, MACHINE_VOCABULARY], dependencyTypesNot: ['type-only'] },
    ),
    only('contract-types', CONTRACT, [MACHINE], 'Even its types come from the machine or from itself alone.'),
    only(
      'workflow',
      WORKFLOW_CODE,
      [MACHINE, CONTRACT],
      'Workflow code turns decisions into activity calls: machine and contract only.',
    ),
    forbid(
      'workflow-packages',
      'What enters the sandbox is replayed for years: @temporalio/workflow and pure packages only, nothing of Node.',
      { path: '^workflows/' },
      {
        dependencyTypesNot: ['type-only'],
        pathNot: ['^workflows/', inNodeModules(['@temporalio/workflow', ...PURE_PACKAGES])],
      },
    ),
    only(
      'activities',
      '^activities/',
      [CONTRACT, MACHINE, STORE_FACE, '^(definition|policy|responses)/'],
      "Activities touch the world behind the contract's interfaces and know the store by its face.",
    ),
    only(
      'store',
      '^store/',
      [CONTRACT, MACHINE_VOCABULARY],
      'The store keeps what the contract describes and knows none of its users.',
    ),
    only(
      'definition',
      '^definition/',
      [CONTRACT, MACHINE],
      'What an agent is made of is known before anything runs it.',
    ),
    only(
      'policy',
      '^policy/',
      [CONTRACT, STORE_FACE, '^definition/'],
      'One way to ask Cedar, for those who execute and those who respond.',
    ),
    only(
      'responses',
      '^responses/',
      [CONTRACT, MACHINE, STORE_FACE, '^(definition|policy)/'],
      'A response is judged by the same code wherever it arrives: at the service, in a library, as a raw signal.',
    ),
    only(
      'relays',
      '^relays/',
      [CONTRACT, MACHINE_VOCABULARY, STORE_FACE],
      'Relays turn rows into starts and signals; workers and services run them alike.',
    ),
    only('config', '^config/', [CONTRACT], 'Configuration is read before anything else exists.'),
    only(
      'client',
      '^client/',
      [CONTRACT, MACHINE, STORE_FACE, '^(config|definition|policy|relays|responses)/'],
      'The client speaks to Temporal and the store through the contract.',
    ),
    forbid(
      'workers-arrows',
      'A worker wires everything that runs; it serves no client and starts no program.',
      { path: '^workers/' },
      { path: '^(index\\.ts$|client/|cli/|examples/|bench/|scripts/|test/)' },
    ),
    only(
      'cli',
      '^cli/',
      ['^client/', '^workers/', '^config/', '^store/', '^testing/', CONTRACT, MACHINE],
      'Commands compose client and workers; what a command does lives there, not here.',
    ),
    only(
      'testing',
      '^testing/',
      [CONTRACT],
      'The offline model server and the helpers for users need the contract alone.',
    ),
    only(
      'examples',
      '^examples/',
      ['^index\\.ts$', '^(client|workflows|testing|store/postgres)/index\\.ts$', '^testing/'],
      'Examples see what a user sees: the public face of the package.',
    ),
    forbid(
      'public-face-arrows',
      'What is published must not lead to programs, examples or tests.',
      { path: '^index\\.ts$' },
      { path: '^(cli|examples|bench|scripts|test)/' },
    ),
    forbid(
      'nobody-imports-tests',
      'Tests depend on the code, never the reverse.',
      { pathNot: '^test/' },
      { path: '^test/' },
    ),
    forbid(
      'nobody-imports-programs',
      'Benches and scripts are run, not imported.',
      { pathNot: '^(bench|scripts|test)/' },
      { path: '^(bench|scripts)/' },
    ),
    forbid(
      'workflow-sdk-only-in-workflows',
      "@temporalio/workflow works in the sandbox; outside it its randomness and clock are not the run's.",
      { path: ANY_SOURCE, pathNot: '^(workflows/|index\\.ts$|bench/(?:core|waits)/bare-workflows)' },
      { path: inNodeModules(['@temporalio/workflow']), dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'no-circular',
      'A cycle has no order in which to be understood.',
      {},
      {
        circular: true,
        viaOnly: { dependencyTypesNot: ['type-only'] },
      },
    ),
    forbid('no-unresolvable', 'Every import leads somewhere.', {}, { couldNotResolve: true }),
    forbid(
      'no-dev-dependency',
      'What is published must be installed with it.',
      { path: ANY_SOURCE, pathNot: '^scripts/' },
      {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    forbid(
      'no-undeclared-package',
      'Every package that is imported is declared.',
      { path: ANY_SOURCE },
      {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown'],
      },
    ),
    forbid('kebab-case', 'Files are named in kebab-case.', { path: '(^|/)[^/]*[A-Z_][^/]*\\.tsx?$' }, {}),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|coverage)/' },
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['require', 'node', 'default', 'types'] },
  },
};
