/** The build makes a module of each style sheet. */
declare module "*.css" {
  const text: string;
  export default text;
}
