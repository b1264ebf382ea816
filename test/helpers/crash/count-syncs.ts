import { join, resolve } from 'node:path'
import { temporaryDir } from '../app.ts'

const SCRIPT = resolve(import.meta.dir, 'sequential-writes.ts')

/** How often so many writes, one after the other in a process of their own, ask the system to sync; counted with strace. */
export async function countSyncs(writes: number): Promise<number> {
  const dir = temporaryDir()
  const trace = join(dir, 'trace')
  const calls = 'trace=fsync,fdatasync,write,writev,sendto,sendmsg'
  const writing = [process.execPath, SCRIPT, join(dir, 'notes.db'), String(writes)]
  const child = Bun.spawn(['strace', '-f', '-e', calls, '-o', trace, ...writing], { stdout: 'pipe', stderr: 'ignore' })
  const told = await new Response(child.stdout).text()
  if (told !== 'ready\nwritten\n') throw new Error(`it did not write: ${told}`)
  await child.exited
  const lines = (await Bun.file(trace).text()).split('\n')
  const between = lines.slice(
    lines.findIndex(line => line.includes('"ready')),
    lines.findIndex(line => line.includes('"written')),
  )
  return between.filter(line => /\b(fsync|fdatasync)\(/.test(line)).length
}
