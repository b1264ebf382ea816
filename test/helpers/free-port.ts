/** A port that nobody listens on, for a program that has to be told one. */
export async function freePort(): Promise<number> {
  const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port = 0 } = taken
  await taken.stop(true)
  return port
}
