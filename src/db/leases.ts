import { type Column, type SQL, sql } from 'drizzle-orm'
import { isPostgres } from './dialect.ts'
import { LIVING_NODES } from './postgres/nodes.ts'

type Lease = { leasedBy: Column; leaseUntil: Column }

/**
 * Leases that nobody will end. One process has a SQLite file, so there every lease of another is lost; on PostgreSQL
 * those whose time is up, and those of processes that ended.
 */
export const isLost = ({ leasedBy, leaseUntil }: Lease, holder: string, now: number): SQL =>
  isPostgres ? sql`(${leaseUntil} <= ${now} OR ${leasedBy} NOT IN (${sql.raw(LIVING_NODES)}))` : sql`${leasedBy} <> ${holder}`
