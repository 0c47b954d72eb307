// What tests use of React. Its own types declare empty global types, such as `HTMLElement`.
declare module "react" {
  export function createElement(type: unknown, attributes?: object | null, ...children: readonly unknown[]): object;
  export function useState<T>(initial: T): [T, (next: T) => void];
}
declare module "react-dom/server" {
  export function renderToString(element: object): string;
}
