/**
 * Finds the file of a thread: beside the file that starts it, and compiled if that file is.
 * @param startedBy the starting file's `import.meta.url`
 * @param path relative to that file, without its extension: `./reader-worker`
 */
export function findThreadFile(startedBy: string, path: string): URL {
  return new URL(`${path}${startedBy.slice(startedBy.lastIndexOf("."))}`, startedBy);
}
