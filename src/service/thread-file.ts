/**
 * Finds the file of a thread, with the same extension as the file that starts it.
 * @param startedBy the `import.meta.url` of the starting file
 * @param path relative to it, without the extension, such as `./reader-worker`
 */
export function findThreadFile(startedBy: string, path: string): URL {
  return new URL(`${path}${startedBy.slice(startedBy.lastIndexOf("."))}`, startedBy);
}
