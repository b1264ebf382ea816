/** The message says why the port cannot be opened, and what to do. */
export class PortRefusal extends Error {
  override name = 'PortRefusal'
}
