// Run by writer.test.ts as a process of its own, to count what it asks of the system: `sequential-writes.ts FILE COUNT`.
import { sql } from 'drizzle-orm'
import { createStorage, openReader, openWriter } from '../../../src/db/sqlite/storage.ts'

const [file, count] = process.argv.slice(2)
const writer = openWriter(file!)
writer.run('CREATE TABLE IF NOT EXISTS notes (n INTEGER PRIMARY KEY)')
const storage = createStorage(writer, openReader(file!))
process.stdout.write('ready\n')
for (let n = 1; n <= Number(count); n++) {
  await storage.write(tx => void tx.run(sql`INSERT INTO notes VALUES (${n})`))
}
process.stdout.write('written\n')
// Without closing: what closing syncs must not be counted.
process.kill(process.pid, 'SIGKILL')
