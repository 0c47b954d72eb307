/**
 * Finds the file of a thread, with the same extension as the file that starts it.
 * @param startedBy the `import.meta.url` of the starting file
 * @param path relative to it, without the extension, such as `./reader-worker`
 */
export function findThreadFile(startedBy: string, path: string): URL {
  // Node 20 cannot load TypeScript in a thread, so tests of the sources use the built file.
  if (startedBy.endsWith(".ts")) return new URL(`../../dist/${path.replace(/^.*\//, "")}.js`, import.meta.url);
  return new URL(`${path}${startedBy.slice(startedBy.lastIndexOf("."))}`, startedBy);
}
