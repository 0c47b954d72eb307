/**
 * Where the file of a thread is: beside the file that starts it, and compiled where that is.
 * @param startedBy the starting file's `import.meta.url`
 * @param path from there, without its ending: `./reader-worker`
 */
export function findThreadFile(startedBy: string, path: string): URL {
  return new URL(`${path}${startedBy.slice(startedBy.lastIndexOf("."))}`, startedBy);
}
