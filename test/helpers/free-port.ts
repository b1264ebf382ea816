// Below the range from which systems choose ports by themselves: for a listener on port 0, or for the near end of a connection.
const PORT_MIN = 11_000
const PORT_MAX = 31_999

/** A free port that the system never chooses by itself, for a program that is given its port or uses it again after a restart. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN + 1))
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  try {
    await Bun.serve({ port, hostname: '127.0.0.1', reusePort: false, fetch: () => new Response() }).stop(true)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'EADDRINUSE') return false
    throw error
  }
}
