import { bytes, table, text } from '../columns.ts'

/** Single values of the installation: the wrapped root key, and the heartbeat: the latest time that a start must not go behind. */
export const installation = table('installation', {
  name: text('name').primaryKey(),
  value: bytes('value').notNull(),
})
