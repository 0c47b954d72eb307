/** The address of a database is not valid. The message never contains a password. */
export class AddressError extends Error {
  override readonly name = "AddressError";
}
