const swc = require('@swc/jest');

/**
 * swc, with one repair: packages that ship ES modules alone may declare `__dirname` themselves, which collides with the
 * parameter of that name that CommonJS wraps around each file. The declaration is redundant there, so it is renamed away.
 */
const DECLARES_DIRNAME = /^const __dirname = /m;

module.exports = {
  createTransformer(options) {
    const transformer = swc.createTransformer(options);
    return {
      ...transformer,
      process: (source, path, jestOptions) =>
        transformer.process(
          path.includes('/node_modules/') ? source.replace(DECLARES_DIRNAME, 'const esmDirname = ') : source,
          path,
          jestOptions,
        ),
    };
  },
};
