// Run by erasures.test.ts as a process of its own, to count what it asks of the system: `sequential-erasures.ts DIR COUNT`.
import { createVerification, startApp } from '../app.ts'

const [dir, count] = process.argv.slice(2)
const app = await startApp({ dir })
const { key } = await app.tenant()
for (let i = 0; i < Number(count); i++) {
  const { id } = await createVerification(app, key)
  const { status } = await app.call('DELETE', `/v1/verifications/${id}`, { key })
  if (status !== 200) throw new Error(`not erased: ${status}`)
}
process.stdout.write('erased\n')
process.kill(process.pid, 'SIGKILL')
