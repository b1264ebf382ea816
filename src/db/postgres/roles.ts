import type { Session } from './session.ts'

/** Nobody who holds the service's password can rewrite the chain: links are only added, and of entries only the details are forgotten. */
const PROTECTED: { table: string; rights: string[]; columns?: string[] }[] = [
  { table: 'audit_links', rights: ['SELECT', 'INSERT'] },
  { table: 'audit_entries', rights: ['SELECT', 'INSERT'], columns: ['salt', 'sealed', 'session_id', 'wrapping_key'] },
  { table: 'schema_migrations', rights: ['SELECT'] },
]
const RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE']

/** All that the service needs of a database that belongs to another user. Repeated after every change of the schema. */
export async function grantTo(session: Session, user: string): Promise<void> {
  const role = `"${user.replaceAll('"', '""')}"`
  await session.rows('BEGIN')
  try {
    await session.rows(`GRANT USAGE ON SCHEMA public TO ${role}`)
    await session.rows(`GRANT ${RIGHTS.join(', ')} ON ALL TABLES IN SCHEMA public TO ${role}`)
    await session.rows(`GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO ${role}`)
    for (const { table, rights, columns } of PROTECTED) {
      const [found] = await session.rows<{ name: string | null }>('SELECT to_regclass($1)::text AS name', [table])
      if (!found?.name) continue
      await session.rows(`REVOKE ALL ON ${table} FROM ${role}`)
      const allowed = [...rights, ...(columns ? [`UPDATE (${columns.join(', ')})`] : [])]
      await session.rows(`GRANT ${allowed.join(', ')} ON ${table} TO ${role}`)
    }
    await session.rows('COMMIT')
  } catch (error) {
    await session.rows('ROLLBACK').catch(() => session.drop())
    throw error
  }
}

/** The tables and sequences of the schema that this user cannot use as the service does. */
export async function listLacking(session: Session): Promise<string[]> {
  const cases = PROTECTED.map(({ table, rights, columns }) => `WHEN relname = '${table}' THEN ${hasAll(rights, columns)}`)
  const rows = await session.rows<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class
     WHERE relkind IN ('r', 'S') AND (relnamespace, relowner) =
       (SELECT relnamespace, relowner FROM pg_class WHERE oid = to_regclass('schema_migrations'))
       AND NOT CASE WHEN relkind = 'S' THEN has_sequence_privilege(oid, 'USAGE') ${cases.join(' ')} ELSE ${hasAll(RIGHTS)} END
     ORDER BY relname`,
  )
  return rows.map(({ name }) => name)
}

const hasAll = (rights: string[], columns: string[] = []): string =>
  [
    ...rights.map(right => `has_table_privilege(oid, '${right}')`),
    ...columns.map(column => `has_column_privilege(oid, '${column}', 'UPDATE')`),
  ].join(' AND ')
