/** Builds a value on first use and caches it. Building every schema at startup would take longer than most commands. */
export function lazily<T>(build: () => T): () => T {
  let built: { readonly value: T } | undefined;
  return () => (built ??= { value: build() }).value;
}

/** An object whose properties are each built on first use. */
export function lazyValues<T extends object>(builds: { readonly [K in keyof T]: () => T[K] }): Readonly<T> {
  const values = Object.entries<() => unknown>(builds).map(([name, build]) => {
    const descriptor: PropertyDescriptor = { get: lazily(build), enumerable: true };
    return [name, descriptor] as const;
  });
  return Object.defineProperties({}, Object.fromEntries(values)) as Readonly<T>;
}
