import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

/** @param {string} selector @param {string} message */
const ban = (selector, message) => ({ selector, message });

const NAMED_EXPORTS_ONLY = [
  ban('ExportDefaultDeclaration', 'Named exports only.'),
  ban('ExportAllDeclaration', 'Export by name, so that the face of a module can be read.'),
];

// `as` hides what was not checked, so it lives where unknown data becomes typed: in functions named parse….
const ASSERT_ONLY_IN_PARSE_FUNCTIONS = ban(
  [
    'TSAsExpression:not([typeAnnotation.typeName.name="const"])',
    ':not(FunctionDeclaration[id.name=/^parse/] TSAsExpression)',
    ':not(VariableDeclarator[id.name=/^parse/] TSAsExpression)',
    ':not(MethodDefinition[key.name=/^parse/] TSAsExpression)',
  ].join(''),
  'Type assertions belong in parse functions; narrow the type or parse the value.',
);

const ENVIRONMENT_ONLY_IN_CONFIG = [
  ban('MemberExpression[object.name="process"][property.name="env"]', 'Only config/ reads the environment.'),
  ban('ImportDeclaration[source.value=/^(node:)?process$/]', 'Use the global `process`; only config/ reads its env.'),
  ban('VariableDeclarator[init.name="process"] Property[key.name="env"]', 'Only config/ reads the environment.'),
];

const PURE_ONLY = [
  ban(
    'Identifier[name=/^(Date|process|crypto|console|performance|fetch)$/]',
    'The machine is pure: no clock, no world.',
  ),
  ban('MemberExpression[object.name="Math"][property.name="random"]', 'The machine is pure: no randomness.'),
  ban('CallExpression[callee.name=/^(setTimeout|setInterval|setImmediate|queueMicrotask)$/]', 'The machine is pure.'),
  ban(
    ':matches(AwaitExpression, FunctionDeclaration[async=true], ArrowFunctionExpression[async=true])',
    'The machine is pure: synchronous.',
  ),
];

const NO_SLEEP = [
  ban(
    'AwaitExpression > NewExpression[callee.name="Promise"] CallExpression[callee.name="setTimeout"]',
    'Wait for a condition, not for time.',
  ),
];

const BROWSER_GLOBALS = [
  'document',
  'DOMParser',
  'EventSource',
  'URLSearchParams',
  'Element',
  'HTMLDetailsElement',
  'HTMLElement',
  'HTMLFormElement',
  'HTMLTimeElement',
  'clearTimeout',
  'fetch',
  'history',
  'location',
  'performance',
  'setInterval',
  'setTimeout',
  'window',
];

const SOURCE_RULES = [...NAMED_EXPORTS_ONLY, ASSERT_ONLY_IN_PARSE_FUNCTIONS];

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'node_modules/', 'test/fixtures/', 'docs/generated/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  eslint.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 70 }],
      '@typescript-eslint/max-params': ['error', { max: 3 }],
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...SOURCE_RULES, ...ENVIRONMENT_ONLY_IN_CONFIG],
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/prefer-readonly': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
      ],
    },
  },
  {
    files: ['config/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...SOURCE_RULES] },
  },
  {
    files: ['workflows/**/*.ts'],
    ignores: ['workflows/patches.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@temporalio/workflow',
              importNames: ['patched', 'deprecatePatch'],
              message: 'Every patch is listed in workflows/patches.ts.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['workflows/machine/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...SOURCE_RULES, ...ENVIRONMENT_ONLY_IN_CONFIG, ...PURE_ONLY] },
  },
  {
    // Programs whose output is for people.
    files: ['scripts/**/*.ts', 'bench/**/*.ts', 'examples/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['test/**/*.{ts,tsx}'],
    rules: {
      'max-lines': 'off',
      'max-lines-per-function': 'off',
      'no-console': 'off',
      '@typescript-eslint/max-params': 'off',
      'no-restricted-syntax': ['error', ...NAMED_EXPORTS_ONLY],
    },
  },
  {
    files: ['test/unit/**/*.ts', 'test/integration/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...NAMED_EXPORTS_ONLY, ...NO_SLEEP] },
  },
  {
    // Runs in browsers, as it is.
    files: ['client/web/assets/*.js'],
    languageOptions: {
      globals: Object.fromEntries(BROWSER_GLOBALS.map((name) => [name, 'readonly'])),
    },
    rules: { 'max-lines': ['error', { max: 400 }], 'max-lines-per-function': ['error', { max: 70 }] },
  },
  {
    files: ['**/*.{js,cjs,mjs}'],
    ignores: ['client/web/assets/*.js'],
    languageOptions: {
      globals: {
        console: 'readonly',
        process: 'readonly',
        module: 'writable',
        require: 'readonly',
        __dirname: 'readonly',
      },
    },
    rules: { 'max-lines': ['error', { max: 400 }], 'max-lines-per-function': ['error', { max: 70 }] },
  },
);
