import type { Session } from './session.ts'

/** Nobody who holds the service's password can rewrite the chain: links are only added, and of entries only the details are forgotten. */
const PROTECTED = [
  { table: 'audit_links', allowed: 'SELECT, INSERT' },
  { table: 'audit_entries', allowed: 'SELECT, INSERT, UPDATE (salt, sealed, session_id, wrapping_key)' },
  { table: 'schema_migrations', allowed: 'SELECT' },
] as const

/** All that the service needs of a database that belongs to another user. Repeated after every change of the schema. */
export async function grantTo(session: Session, user: string): Promise<void> {
  const role = `"${user.replaceAll('"', '""')}"`
  await session.rows('BEGIN')
  try {
    await session.rows(`GRANT USAGE ON SCHEMA public TO ${role}`)
    await session.rows(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`)
    await session.rows(`GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO ${role}`)
    for (const { table, allowed } of PROTECTED) {
      const [found] = await session.rows<{ name: string | null }>('SELECT to_regclass($1)::text AS name', [table])
      if (!found?.name) continue
      await session.rows(`REVOKE ALL ON ${table} FROM ${role}`)
      await session.rows(`GRANT ${allowed} ON ${table} TO ${role}`)
    }
    await session.rows('COMMIT')
  } catch (error) {
    await session.rows('ROLLBACK').catch(() => session.drop())
    throw error
  }
}
